package main

import (
	"reflect"
	"testing"
)

func TestCommandsAreFoundInCommandLines(t *testing.T) {
	for line, want := range map[string][][]string{
		``:                             nil,
		`npm install a`:                {{"npm", "install", "a"}},
		`cd x && npm i a;b|c &d`:       {{"cd", "x"}, {"npm", "i", "a"}, {"b"}, {"c"}, {"d"}},
		"a \\\n b\nc # d && e\nf":      {{"a", "b"}, {"c"}, {"f"}},
		`a "b && c" 'd;e' f\ g "h\"i"`: {{"a", "b && c", "d;e", "f g", `h"i`}},
		`a b"c"'d' "" ''`:              {{"a", "bcd", "", ""}},
		`a >b 2>&1 <c d &>/dev/null`:   {{"a", "d"}},
		`a>b;c 2>>d e`:                 {{"a"}, {"c", "e"}},
		`(a; b) && { c; }`:             {{"a"}, {"b"}, {"c"}},
		`echo "$(a "b")" && c`:         {{"echo", "$"}, {"a", "b"}, {"c"}},
		"echo `a` b":                   {{"echo", "$"}, {"a"}, {"b"}},
		"\"`a`\" ; b":                  {{"$"}, {"a"}, {"b"}},
		`a $X ${Y}`:                    {{"a", "$X", "$"}, {"Y"}},
		`a '$(b)'`:                     {{"a", "$(b)"}},
		`a "unclosed && b`:             {{"a", "unclosed && b"}},
		`a\`:                           {{`a\`}},
	} {
		if got := commands(line); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %q, want %q", line, got, want)
		}
	}
}
