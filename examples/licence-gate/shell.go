package main

import "strings"

// unknown stands for what a command line does not show: a word that the shell
// makes up when it runs.
const unknown = "$"

// commands returns the simple commands in a command line, each as its words. It
// knows quotes, backslashes, redirections, and what separates and nests commands.
// It runs nothing: what the shell would put in is unknown.
func commands(line string) [][]string {
	var reader shell
	for index := 0; index < len(line); index++ {
		index = reader.read(line, index)
	}
	reader.endCommand()
	return reader.done
}

// shell is what was read so far.
type shell struct {
	done   [][]string
	words  []string
	word   strings.Builder
	inWord bool
	// isTarget says that the word belongs to a redirection.
	isTarget bool
	// quote is the one that is open, or 0.
	quote byte
	// outer are the quotes around the commands that this one is nested in.
	outer []nesting
}

// nesting is where a command inside of another one ends.
type nesting struct{ end, quote byte }

// read takes the byte at an index, and what belongs to it, and returns the last
// index that it took.
func (s *shell) read(line string, index int) int {
	letter, rest := line[index], line[index:]
	switch {
	case s.quote == '\'' && letter == '\'', s.quote == '"' && letter == '"':
		s.quote = 0
	case s.quote == '\'':
		s.add(letter)
	case letter == '\\' && len(rest) > 1:
		// A backslash at the end of a line continues it.
		if rest[1] != '\n' {
			s.add(rest[1])
		}
		return index + 1
	case strings.HasPrefix(rest, "$("):
		s.add(unknown[0])
		s.nest(')')
		return index + 1
	case letter == '`' && s.endsNesting('`'):
		s.unnest()
	case letter == '`':
		s.add(unknown[0])
		s.nest('`')
	case s.quote == '"':
		s.add(letter)
	default:
		return index + s.readPlain(letter, rest)
	}
	return index
}

// readPlain takes a byte that no quote or backslash protects, and returns how many
// more it took.
func (s *shell) readPlain(letter byte, rest string) int {
	switch letter {
	case '"', '\'':
		s.quote = letter
		s.inWord = true
	case ' ', '\t', '\r':
		s.endWord()
	case '(':
		s.nest(')')
	case ')':
		if s.endsNesting(')') {
			s.unnest()
		} else {
			s.endCommand()
		}
	case '\n', ';', '&', '|', '{', '}':
		s.endCommand()
	case '<', '>':
		return s.redirect(rest)
	case '#':
		if !s.inWord {
			comment, _, _ := strings.Cut(rest, "\n")
			return len(comment) - 1
		}
		s.add(letter)
	default:
		s.add(letter)
	}
	return 0
}

func (s *shell) add(letter byte) {
	s.word.WriteByte(letter)
	s.inWord = true
}

// redirect skips the sign of a redirection. The number before it and the word after
// it are no words of the command.
func (s *shell) redirect(rest string) int {
	if strings.Trim(s.word.String(), "0123456789") == "" {
		s.word.Reset()
		s.inWord = false
	}
	s.endWord()
	s.isTarget = true
	return len(rest) - len(strings.TrimLeft(rest, "<>&|")) - 1
}

// nest begins a command inside of the current one, which is then at its end.
func (s *shell) nest(end byte) {
	s.endCommand()
	s.outer = append(s.outer, nesting{end, s.quote})
	s.quote = 0
}

func (s *shell) endsNesting(end byte) bool {
	return len(s.outer) > 0 && s.outer[len(s.outer)-1].end == end
}

func (s *shell) unnest() {
	s.endCommand()
	last := len(s.outer) - 1
	s.quote = s.outer[last].quote
	s.outer = s.outer[:last]
}

func (s *shell) endWord() {
	if s.inWord && !s.isTarget {
		s.words = append(s.words, s.word.String())
	}
	if s.inWord {
		s.isTarget = false
	}
	s.word.Reset()
	s.inWord = false
}

func (s *shell) endCommand() {
	s.endWord()
	if len(s.words) > 0 {
		s.done = append(s.done, s.words)
	}
	s.words = nil
	s.isTarget = false
}
