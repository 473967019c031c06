// Package hookboxtest lends hooks a host for go test: what they log is kept, what
// they ask for is what the test says.
//
//	func TestBlocksStrangers(t *testing.T) {
//		host := hookboxtest.New(t)
//		decision, err := guard(hookboxtest.Event("tool.pre", `{"name": "run_command"}`))
//		...
//	}
package hookboxtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	hookbox "hookbox.dev/guest"
	"hookbox.dev/guest/internal/standin"
)

// Host is what a hook reaches during a test. There is one at a time, so tests
// that use it cannot run in parallel.
type Host struct {
	t     testing.TB
	state *standin.Host
	sent  []string
}

// New makes an empty host. The test's end takes it away.
func New(t testing.TB) *Host {
	before := standin.Current
	standin.Current = standin.New()
	t.Cleanup(func() { standin.Current = before })
	return &Host{t: t, state: standin.Current}
}

// Event makes an event with a payload in JSON.
func Event(name, payload string) hookbox.Event {
	decoder := json.NewDecoder(strings.NewReader(payload))
	decoder.UseNumber()
	event := hookbox.Event{Name: name, ID: "test", Hook: "test"}
	if err := decoder.Decode(&event.Payload); err != nil {
		panic(fmt.Sprintf("the payload of a test is not JSON: %v", err))
	}
	return event
}

// Logs returns what was logged, a level and a message in each line.
func (h *Host) Logs() []string {
	var lines []string
	for _, line := range h.state.Logs {
		lines = append(lines, line.Level+": "+line.Message)
	}
	return lines
}

// Effects returns the texts and reminders for the model, in order: each is a
// string or a hookbox.Reminder.
func (h *Host) Effects() []any {
	return h.state.Effects
}

// Metric returns the value of a metric, 0 if there is none.
func (h *Host) Metric(name string) float64 {
	value := h.state.Metrics[name]
	if value.IsReal {
		return value.Real
	}
	return float64(value.Integer)
}

// Sent returns the requests that were sent, a method and a URL in each line.
func (h *Host) Sent() []string {
	return h.sent
}

// SetTime says what time it is.
func (h *Host) SetTime(now time.Time) {
	h.state.Now = uint64(now.UnixMilli())
}

// SetEnv sets a variable.
func (h *Host) SetEnv(name, value string) {
	h.state.Env[name] = value
}

// SetFile puts a file where the hook can read it.
func (h *Host) SetFile(path string, content []byte) {
	h.state.Files[path] = content
}

// AddHook adds a hook of the project.
func (h *Host) AddHook(hook hookbox.Hook, source string) {
	h.state.Hooks = append(h.state.Hooks, standin.Hook{
		Name: hook.Name, Event: hook.Event, Priority: hook.Priority, ExplicitPriority: hook.ExplicitPriority,
		When: hook.When, Handler: hook.Handler, File: hook.File, Source: source,
	})
}

// SetCache stores a value.
func (h *Host) SetCache(key string, value any) {
	h.t.Helper()
	h.state.Cache[key] = h.encode(value)
}

// Cached returns the JSON text stored under a key; empty if there is none.
func (h *Host) Cached(key string) string {
	return h.state.Cache[key]
}

// Serve says what answers requests. An error that is a *hookbox.Error reaches the
// hook as it is.
func (h *Host) Serve(answer func(hookbox.Request) (hookbox.Response, error)) {
	h.state.Send = func(request standin.Request) (standin.Response, standin.Problem) {
		h.sent = append(h.sent, request.Method+" "+request.URL)
		response, err := answer(hookbox.Request{
			Method: request.Method, URL: request.URL, Headers: request.Headers, Body: request.Body,
		})
		if err != nil {
			return standin.Response{}, problem(err)
		}
		return standin.Response{Status: response.Status, Headers: response.Headers, Body: response.Body}, standin.Problem{}
	}
}

// SetTool says what a tool returns. An error that is a *hookbox.Error reaches the
// hook as it is.
func (h *Host) SetTool(name string, run func(args map[string]any) (any, error)) {
	others := h.state.Call
	h.state.Call = func(called, text string) (string, standin.Problem) {
		if called != name {
			return others(called, text)
		}
		var args map[string]any
		if err := json.Unmarshal([]byte(text), &args); err != nil {
			return "", problem(err)
		}
		result, err := run(args)
		if err != nil {
			return "", problem(err)
		}
		return h.encode(result), standin.Problem{}
	}
}

func (h *Host) encode(value any) string {
	h.t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		h.t.Fatalf("a value of the test cannot be written as JSON: %v", err)
	}
	return string(text)
}

func problem(err error) standin.Problem {
	var known *hookbox.Error
	if errors.As(err, &known) {
		return standin.Problem{Kind: known.Kind, Message: known.Message}
	}
	return standin.Problem{Kind: "failed", Message: err.Error()}
}
