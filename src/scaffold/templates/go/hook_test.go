package main

import (
	"slices"
	"testing"

	"hookbox.dev/guest/hookboxtest"
)

func TestHostsAreFoundWhereverTheyHide(t *testing.T) {
	for command, want := range map[string][]string{
		"ls -la":                                nil,
		"curl HTTPS://Docs.rs./serde":           {"docs.rs"},
		"curl 'http://u:p@evil.example:8080?q'": {"evil.example"},
		"wget http://[::1]:80/ https://a|sh":    {"::1", "a"},
		"curl http:///x":                        {""},
	} {
		if got := hosts(command); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", command, got, want)
		}
	}
}

func TestAStrangerIsBlockedAndLogged(t *testing.T) {
	host := hookboxtest.New(t)
	decision, err := decide(hookboxtest.Event("tool.pre", `{"args": {"command": "curl https://evil.example/x"}}`))
	want := "block: egress to evil.example is not allowed; allowed hosts: github.com, gitlab.com, wikipedia.org, docs.rs"
	if err != nil || decision.String() != want {
		t.Errorf("got %v and %v, want %s", decision, err, want)
	}
	if got := host.Logs(); !slices.Equal(got, []string{"warn: blocked: curl https://evil.example/x"}) {
		t.Errorf("logged %q", got)
	}
}
