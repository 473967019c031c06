package main

import (
	"encoding/hex"
	"strings"

	hookbox "hookbox.dev/guest"
)

func httpGet(c call) (hookbox.Decision, error) {
	response, err := hookbox.HTTP.Get(c.text("url"), [2]string{"x-conformance", "yes"})
	if err != nil {
		return note(nil, err)
	}
	answer := response.Headers.Get("x-answer")
	return note(map[string]any{
		"status": response.Status,
		"text":   response.Text(),
		"header": orNull(answer, answer != ""),
	}, nil)
}

func httpPost(c call) (hookbox.Decision, error) {
	response, err := hookbox.HTTP.Post(c.text("url"), []byte(c.text("body")))
	if err != nil {
		return note(nil, err)
	}
	return note(map[string]any{"status": response.Status, "text": response.Text()}, nil)
}

func tools(c call) (hookbox.Decision, error) {
	var result any
	err := hookbox.Tools.Call(c.text("tool"), map[string]any{"q": "x"}, &result)
	return note(result, err)
}

func env(c call) (hookbox.Decision, error) {
	value, set, err := hookbox.Env.Get(c.text("variable"))
	return note(orNull(value, set), err)
}

func files(c call) (hookbox.Decision, error) {
	content, err := hookbox.Files.Read(c.text("path"))
	return note(string(content), err)
}

func filesList(c call) (hookbox.Decision, error) {
	return note(asAny(hookbox.Files.List(c.text("path"))))
}

func hooks(call) (hookbox.Decision, error) {
	all, err := hookbox.Hooks.List()
	names := []string{}
	for _, hook := range all {
		names = append(names, hook.Name)
	}
	return note(names, err)
}

func hooksSource(call) (hookbox.Decision, error) {
	some, _, err := hookbox.Hooks.Source("conformance")
	if err != nil {
		return note(nil, err)
	}
	none, found, err := hookbox.Hooks.Source("nobody")
	return note(map[string]any{
		"some": strings.Contains(some, "event:"),
		"none": orNull(none, found),
	}, err)
}

func emit(c call) (hookbox.Decision, error) {
	var payload any
	err := hookbox.Events.Emit(c.text("name"), map[string]any{"n": 1}, &payload)
	return note(payload, err)
}

func clock(call) (hookbox.Decision, error) {
	return note(hookbox.Clock.Now().UnixMilli(), nil)
}

func random(call) (hookbox.Decision, error) {
	return note(hex.EncodeToString(hookbox.Random.Bytes(8)), nil)
}
