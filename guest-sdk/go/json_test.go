package hookbox

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
)

// standard reads JSON as the standard library does.
func standard(text string) (any, error) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	if decoder.More() || strings.TrimSpace(text[decoder.InputOffset():]) != "" {
		return nil, &json.SyntaxError{}
	}
	return value, nil
}

// FuzzJSON compares with the standard library: what is JSON, what it means, and
// that it means the same after it was written.
func FuzzJSON(f *testing.F) {
	for _, seed := range []string{
		`null`, `true`, ` false `, `0`, `-0`, `-1.5e+10`, `1E400`, `123456789012345678901234567890`,
		`""`, `"plain text longer than eight"`, `"a\"b\\c\/d\b\f\n\r\t\u0041\u0000"`, `"é \u00e9 \ud83d\ude00 😀"`,
		`"\ud800"`, `"\ud800x"`, `"\ud800\u0041"`, `"\udc00\ud800"`, `"\ud800\ud83d\ude00"`,
		`[]`, `[1, [2, [3]], {}]`, `{}`, `{"a": {"b": [null]}, "a b": 1, "": 2}`, `{"a":1,"a":2}`,
		``, ` `, `nul`, `nulll`, `truefalse`, `01`, `-`, `1.`, `.5`, `1e`, `1e+`, `+1`, `0x1`, `NaN`,
		`"`, `"\x"`, `"\u12"`, `"\u12g4"`, `"\u+123"`, `"\u1_23"`, "\"a\nb\"", "\"12345678\n\"", `'a'`,
		`[`, `[1`, `[1,`, `[1,]`, `[,1]`, `[1 2]`, `{`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,}`, `{a:1}`, `{1:2}`, `{"a" 1}`,
		`1 2`, `{} {}`, `[]]`, strings.Repeat("[", 900) + strings.Repeat("]", 900),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.ToValidUTF8(text, "?")
		want, wantErr := standard(text)
		got, err := parse(text)
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%q: got the error %v, want %v", text, err, wantErr)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%q: got %#v, want %#v", text, got, want)
		}
		if err != nil {
			return
		}
		written, err := encode(got)
		if err != nil {
			t.Fatalf("%q cannot be written: %v", text, err)
		}
		if again, err := standard(written); err != nil || !reflect.DeepEqual(again, want) {
			t.Fatalf("%q was written as %q: %v", text, written, err)
		}
	})
}

func TestTooDeepIsAnError(t *testing.T) {
	if _, err := parse(strings.Repeat("[", 100_000)); err == nil {
		t.Error("it was read")
	}
	loop := map[string]any{}
	loop["self"] = loop
	if _, err := encode(loop); err == nil {
		t.Error("it was written")
	}
}

func TestErrorsSayWhere(t *testing.T) {
	for text, want := range map[string]string{
		`{"a": tru}`: `not JSON: expected a value at byte 6, found 't'`,
		`{"a" 1}`:    `not JSON: expected a colon at byte 5, found '1'`,
		`[1`:         `not JSON: expected a comma or ']' at byte 2, found the end`,
	} {
		if _, err := parse(text); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

type inner struct {
	Deep int `json:"deep"`
}

type outer struct {
	inner
	*time.Location `json:"-"`
	Text           string            `json:"text"`
	Renamed        json.Number       `json:"other"`
	Untagged       bool              //
	Small          int8              `json:"small,omitempty"`
	Big            uint64            `json:"big,omitzero"`
	Real           float64           `json:"real"`
	List           []string          `json:"list"`
	Pair           [2]int            `json:"pair"`
	Map            map[string]inner  `json:"map"`
	Pointer        *inner            `json:"pointer"`
	Any            any               `json:"any"`
	Bytes          []byte            `json:"bytes"`
	When           time.Time         `json:"when"`
	Raw            json.RawMessage   `json:"raw"`
	Strings        map[string]string `json:"strings,omitempty"`
	hidden         string
}

const everything = `{"deep": 1, "text": "t", "other": 12345678901234567890, "Untagged": true, "small": -8, "big": 18446744073709551615,
	"real": 2.5, "list": ["a", "b"], "pair": [1, 2], "map": {"k": {"deep": 3}}, "pointer": {"deep": 4}, "any": [1, {"x": null}],
	"bytes": "aGk=", "when": "2000-01-02T03:04:05Z", "raw": {"as": "is"}, "hidden": "no", "unknown": 1}`

func TestStructsAreFilledAndWrittenAsByTheStandardLibrary(t *testing.T) {
	var got, want outer
	if err := decode(everything, &got); err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(strings.NewReader(everything))
	decoder.UseNumber()
	if err := decoder.Decode(&want); err != nil {
		t.Fatal(err)
	}
	// The spaces of the original are not kept.
	want.Raw = json.RawMessage(`{"as":"is"}`)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	for _, value := range []outer{got, {}} {
		written, err := encode(value)
		if err != nil {
			t.Fatal(err)
		}
		bytes, _ := json.Marshal(value)
		ours, _ := standard(written)
		theirs, _ := standard(string(bytes))
		if !reflect.DeepEqual(ours, theirs) {
			t.Errorf("wrote %s, want %s", written, bytes)
		}
	}
}

func TestWhatDoesNotFitIsAnErrorWithItsPlace(t *testing.T) {
	for text, want := range map[string]string{
		`{"text": 1}`:                          "text: the number 1 does not fit into string",
		`{"small": 128}`:                       "small: the number 128 does not fit into int8",
		`{"small": 1.5}`:                       "small: the number 1.5 does not fit into int8",
		`{"big": -1}`:                          "big: the number -1 does not fit into uint64",
		`{"other": "1"}`:                       "other: a string does not fit into json.Number",
		`{"list": ["a", {}]}`:                  "list.1: an object does not fit into string",
		`{"map": {"k": {"deep": true}}}`:       "map.k.deep: a boolean does not fit into int",
		`{"pointer": []}`:                      "pointer: a list does not fit into hookbox.inner",
		`{"text": "a", "TEXT": "b"}`:           `the keys "TEXT" and "text" differ only in case`,
		`{"map": {"k": {"DEEP":1, "Deep":2}}}`: `map.k: the keys "DEEP" and "Deep" differ only in case`,
		`{"bytes": "%"}`:                       "bytes: illegal base64 data at input byte 0",
	} {
		var into outer
		if err := decode(text, &into); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
	var quoted struct {
		Number int `json:"number,string"`
	}
	if err := decode(`{"number": "1"}`, &quoted); err == nil {
		t.Error("an option that is not known was ignored")
	}
	if err := decode(`{}`, outer{}); err == nil {
		t.Error("something was stored without a pointer")
	}
}

func TestNullLeavesWhatIsThere(t *testing.T) {
	into := outer{Text: "kept", List: []string{"gone"}}
	if err := decode(`{"text": null, "list": null, "TEXT2": null}`, &into); err != nil {
		t.Fatal(err)
	}
	if into.Text != "kept" || into.List != nil {
		t.Errorf("got %+v", into)
	}
}

func TestValuesAreWritten(t *testing.T) {
	type name string
	number := 3
	for _, test := range []struct {
		value any
		want  string
	}{
		{nil, `null`},
		{map[string]any{"b": 1, "a": []any{}}, `{"a":[],"b":1}`},
		{"<&>\u2028\x00\x1f\x7f\xff", "\"<&>\u2028\\u0000\\u001f\x7f\ufffd\""},
		{json.Number("1.50"), `1.50`},
		{json.Number(""), `0`},
		{uint8(255), `255`},
		{float32(0.1), `0.1`},
		{1e21, `1e+21`},
		{-1e-7, `-1e-07`},
		{100000000.0, `100000000`},
		{&number, `3`},
		{(*int)(nil), `null`},
		{[]string(nil), `null`},
		{[]name{"x"}, `["x"]`},
		{map[name]bool{"k": true}, `{"k":true}`},
		{map[string]int(nil), `null`},
		{time.Unix(0, 0).UTC(), `"1970-01-01T00:00:00Z"`},
		{Number{real: 2.5, isReal: true}, `2.5`},
		{Number{integer: math.MaxInt64}, `9223372036854775807`},
		{Number{real: math.NaN(), isReal: true}, `null`},
	} {
		if got, err := encode(test.value); err != nil || got != test.want {
			t.Errorf("%#v: got %s and %v, want %s", test.value, got, err, test.want)
		}
	}
	for _, value := range []any{math.NaN(), math.Inf(1), json.Number("x"), json.Number("1 "), func() {}, make(chan int), map[int]int{1: 2}, 1i} {
		if got, err := encode(value); err == nil {
			t.Errorf("%#v was written as %s", value, got)
		}
	}
}
