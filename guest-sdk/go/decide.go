package hookbox

import (
	"reflect"
	"runtime"
	"strings"
)

// failure is why the hook could not decide.
type failure struct {
	message string
	stack   string
}

const (
	noHandler  = "the hook has no handler; call hookbox.Handle in an init function"
	noAnswer   = "the hook returned no decision; return hookbox.Allow(), Block(reason), Modify(payload) or Ask(message)"
	panicFrame = "\npanic("
)

// decide runs the handler. What it panics with becomes a failure: on a gate
// that closes it, and says why.
func decide(event Event, payload string) (decision Decision, failed *failure) {
	defer func() {
		if value := recover(); value != nil {
			failed = &failure{message: "panic: " + describe(value), stack: where(stack())}
		}
	}()
	if handler == nil {
		return decision, &failure{message: noHandler}
	}
	event, err := receive(event, payload)
	if err != nil {
		return decision, &failure{message: err.Error()}
	}
	decision, err = handler(event)
	switch {
	case err != nil:
		return decision, &failure{message: err.Error()}
	case decision.kind == noDecision:
		return decision, &failure{message: noAnswer}
	case decision.problem != "":
		return decision, &failure{message: decision.problem}
	}
	return decision, nil
}

// where cuts off the part of a trace that is about recovering.
func where(stack string) string {
	_, after, found := strings.Cut(stack, panicFrame)
	if !found {
		return stack
	}
	// What follows is the rest of panic's own two lines.
	for range 2 {
		_, after, _ = strings.Cut(after, "\n")
	}
	return strings.TrimSpace(after)
}

// stack returns the trace of this goroutine.
func stack() string {
	text := make([]byte, 16<<10)
	return string(text[:runtime.Stack(text, false)])
}

// describe returns what was panicked with as text.
func describe(value any) string {
	switch value := value.(type) {
	case error:
		return value.Error()
	case interface{ String() string }:
		return value.String()
	case string:
		return value
	}
	if text, err := encode(value); err == nil {
		return text
	}
	return "a " + reflect.TypeOf(value).String()
}
