package hookbox

import (
	"encoding/json"
	"errors"
	"math/bits"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// The JSON of this package is its own because of what encoding/json costs in a
// fresh instance: it learns about every type at its first use, and each call is
// the first one. It also takes keys that differ in case for the same; see bind.

// deepest is how deep JSON may be nested. The host allows less.
const deepest = 1000

// parse reads JSON text in UTF-8 as natural data: nil, bool, json.Number, string,
// []any and map[string]any. Where a key stands twice, the last one counts.
func parse(text string) (any, error) {
	p := parser{text: text}
	value, err := p.value(0)
	if err != nil {
		return nil, err
	}
	if p.space(); p.at < len(p.text) {
		return nil, p.wrong("the end")
	}
	return value, nil
}

type parser struct {
	text string
	at   int
}

// wrong says what was expected where parsing stopped.
func (p *parser) wrong(wanted string) error {
	found := "the end"
	if p.at < len(p.text) {
		letter, _ := utf8.DecodeRuneInString(p.text[p.at:])
		found = strconv.QuoteRune(letter)
	}
	return errors.New("not JSON: expected " + wanted + " at byte " + strconv.Itoa(p.at) + ", found " + found)
}

func (p *parser) space() {
	for p.at < len(p.text) {
		switch p.text[p.at] {
		case ' ', '\t', '\n', '\r':
			p.at++
		default:
			return
		}
	}
}

// next skips spaces and returns the byte that follows, 0 at the end.
func (p *parser) next() byte {
	p.space()
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

func (p *parser) value(depth int) (any, error) {
	if depth > deepest {
		return nil, errors.New("not JSON that can be read: it is nested too deep")
	}
	switch first := p.next(); {
	case first == '{':
		return p.object(depth)
	case first == '[':
		return p.list(depth)
	case first == '"':
		return p.string()
	case first == '-' || isDigit(first):
		return p.number()
	case first == 't':
		return p.word("true", true)
	case first == 'f':
		return p.word("false", false)
	default:
		return p.word("null", nil)
	}
}

func (p *parser) word(word string, value any) (any, error) {
	if !strings.HasPrefix(p.text[p.at:], word) {
		return nil, p.wrong("a value")
	}
	p.at += len(word)
	return value, nil
}

func (p *parser) object(depth int) (any, error) {
	object := map[string]any{}
	p.at++
	if p.next() == '}' {
		p.at++
		return object, nil
	}
	for {
		if p.next() != '"' {
			return nil, p.wrong("a key")
		}
		key, err := p.string()
		if err != nil {
			return nil, err
		}
		if p.next() != ':' {
			return nil, p.wrong("a colon")
		}
		p.at++
		if object[key], err = p.value(depth + 1); err != nil {
			return nil, err
		}
		if more, err := p.more('}'); !more {
			return object, err
		}
	}
}

func (p *parser) list(depth int) (any, error) {
	list := []any{}
	p.at++
	if p.next() == ']' {
		p.at++
		return list, nil
	}
	for {
		value, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		list = append(list, value)
		if more, err := p.more(']'); !more {
			return list, err
		}
	}
}

// more says whether a comma announces another item.
func (p *parser) more(end byte) (bool, error) {
	switch p.next() {
	case ',':
		p.at++
		return true, nil
	case end:
		p.at++
		return false, nil
	}
	return false, p.wrong("a comma or " + strconv.QuoteRune(rune(end)))
}

func (p *parser) number() (any, error) {
	start := p.at
	if p.text[p.at] == '-' {
		p.at++
	}
	whole := p.at
	if !p.digits() {
		return nil, p.wrong("a digit")
	}
	if p.text[whole] == '0' && p.at > whole+1 {
		p.at = whole + 1
		return nil, p.wrong("a number without leading zeros")
	}
	if p.skip(".") && !p.digits() {
		return nil, p.wrong("a digit")
	}
	if p.skip("eE") {
		p.skip("+-")
		if !p.digits() {
			return nil, p.wrong("a digit")
		}
	}
	return json.Number(p.text[start:p.at]), nil
}

// skip skips one of some bytes and says whether one was there.
func (p *parser) skip(some string) bool {
	if p.at < len(p.text) && strings.IndexByte(some, p.text[p.at]) >= 0 {
		p.at++
		return true
	}
	return false
}

func (p *parser) digits() bool {
	start := p.at
	for p.at < len(p.text) && isDigit(p.text[p.at]) {
		p.at++
	}
	return p.at > start
}

func isDigit(letter byte) bool { return '0' <= letter && letter <= '9' }

// string reads a string. One without escapes is a part of the text, not a copy.
func (p *parser) string() (string, error) {
	start := p.at + 1
	p.at = start + plain(p.text[start:])
	if p.at < len(p.text) && p.text[p.at] == '"' {
		p.at++
		return p.text[start : p.at-1], nil
	}
	return p.unescape(start)
}

// unescape reads a string that has escapes, the first of them where we are.
func (p *parser) unescape(start int) (string, error) {
	text, at := p.text, p.at
	unescaped := append(make([]byte, 0, 2*(at-start)+64), text[start:at]...)
	for at < len(text) {
		if letter := text[at]; letter == '"' {
			p.at = at + 1
			return string(unescaped), nil
		} else if letter != '\\' {
			p.at = at
			return "", p.wrong("no control character")
		}
		at++
		if at < len(text) && meant[text[at]] != 0 {
			unescaped = append(unescaped, meant[text[at]])
			at++
		} else {
			p.at = at
			letter, err := p.unicode()
			if err != nil {
				return "", err
			}
			unescaped = utf8.AppendRune(unescaped, letter)
			at = p.at
		}
		count := plain(text[at:])
		unescaped = append(unescaped, text[at:at+count]...)
		at += count
	}
	p.at = at
	return "", p.wrong("the end of the string")
}

// meant is what a letter after a backslash stands for, if it is one that does.
var meant = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// plain returns how many bytes at the start stand for themselves in a string. It
// looks at eight of them at once, because payloads can hold whole files:
// subtracting borrows from the highest bit of a byte that was smaller.
func plain(text string) int {
	const each, highest = 0x0101010101010101, 0x8080808080808080
	rest := text
	for len(rest) >= 8 {
		eight := rest[:8]
		all := uint64(eight[0]) | uint64(eight[1])<<8 | uint64(eight[2])<<16 | uint64(eight[3])<<24 |
			uint64(eight[4])<<32 | uint64(eight[5])<<40 | uint64(eight[6])<<48 | uint64(eight[7])<<56
		quotes := all ^ each*'"'
		slashes := all ^ each*'\\'
		found := ((all-each*' ')&^all | (quotes-each)&^quotes | (slashes-each)&^slashes) & highest
		if found != 0 {
			// Bytes behind the first one may be found by mistake.
			return len(text) - len(rest) + bits.TrailingZeros64(found)/8
		}
		rest = rest[8:]
	}
	for index := range len(rest) {
		if letter := rest[index]; letter < ' ' || letter == '"' || letter == '\\' {
			return len(text) - len(rest) + index
		}
	}
	return len(text)
}

// unicode reads a \u escape, and the one it makes a pair with. Half of a pair has no
// meaning of its own and becomes U+FFFD.
func (p *parser) unicode() (rune, error) {
	if p.at >= len(p.text) || p.text[p.at] != 'u' {
		return 0, p.wrong("an escape")
	}
	first, err := p.hex()
	if err != nil || !utf16.IsSurrogate(first) {
		return first, err
	}
	if !strings.HasPrefix(p.text[p.at:], `\u`) {
		return utf8.RuneError, nil
	}
	before := p.at
	p.at++
	second, err := p.hex()
	if err != nil {
		return 0, err
	}
	whole := utf16.DecodeRune(first, second)
	if whole == utf8.RuneError {
		p.at = before
	}
	return whole, nil
}

// hex reads u and four digits.
func (p *parser) hex() (rune, error) {
	p.at++
	if p.at+4 > len(p.text) {
		p.at = len(p.text)
		return 0, p.wrong("four hexadecimal digits")
	}
	// ParseUint takes an underscore or a sign for no digit, so four are four.
	number, err := strconv.ParseUint(p.text[p.at:p.at+4], 16, 16)
	if err != nil {
		return 0, p.wrong("four hexadecimal digits")
	}
	p.at += 4
	return rune(number), nil
}
