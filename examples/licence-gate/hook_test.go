package main

import (
	"slices"
	"testing"

	hookbox "hookbox.dev/guest"
	"hookbox.dev/guest/hookboxtest"
)

// serve answers every request in the same way.
func serve(host *hookboxtest.Host, status int, body string) {
	host.Serve(func(hookbox.Request) (hookbox.Response, error) {
		return hookbox.Response{Status: status, Body: []byte(body)}, nil
	})
}

var install = hookboxtest.Event("tool.pre", `{"args": {"command": "npm install left-pad"}}`)

func TestAnAnswerIsAskedForOnce(t *testing.T) {
	host := hookboxtest.New(t)
	serve(host, 200, `{"licence": "MIT", "status": "allowed"}`)
	for range 2 {
		if decision, err := decide(install); decision != hookbox.Allow() || err != nil {
			t.Errorf("got %v and %v", decision, err)
		}
	}
	if sent := host.Sent(); !slices.Equal(sent, []string{"GET https://licences.example.com/v1/packages/npm/left-pad"}) {
		t.Errorf("sent %q", sent)
	}
}

func TestAnAnswerThatSaysNothingIsAnError(t *testing.T) {
	for _, body := range []string{``, `null`, `{}`, `[]`, `"allowed"`, `{"status": "allowed"}`, `{"licence": "MIT"}`,
		`{"licence": "MIT", "status": "Allowed"}`, `{"licence": "MIT", "status": "denied", "STATUS": "allowed"}`} {
		host := hookboxtest.New(t)
		serve(host, 200, body)
		if decision, err := decide(install); err == nil {
			t.Errorf("%s: got %v", body, decision)
		}
		if host.Cached("npm/left-pad") != "" {
			t.Errorf("%s was kept", body)
		}
	}
}

func TestAServiceThatFailsIsAnError(t *testing.T) {
	for _, status := range []int{204, 301, 403, 500} {
		host := hookboxtest.New(t)
		serve(host, status, `{"licence": "MIT", "status": "allowed"}`)
		if decision, err := decide(install); err == nil {
			t.Errorf("%d: got %v", status, decision)
		}
	}
}
