package hookbox

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"
)

// with runs a handler on a payload, as the host would.
func with(t *testing.T, decideThis Handler, payload string) (Decision, *failure) {
	t.Helper()
	handler = nil
	t.Cleanup(func() { handler, queued = nil, nil })
	if decideThis != nil {
		Handle(decideThis)
	}
	return decide(Event{Name: "tool.pre"}, payload)
}

func TestFailuresSayWhatToDo(t *testing.T) {
	var nobody *Event
	for name, test := range map[string]struct {
		handler Handler
		payload string
		want    string
	}{
		"no handler":    {nil, `{}`, noHandler},
		"no decision":   {func(Event) (Decision, error) { return Decision{}, nil }, `{}`, noAnswer},
		"an error":      {func(Event) (Decision, error) { return Allow(), errors.New("bad day") }, `{}`, "bad day"},
		"not JSON":      {func(Event) (Decision, error) { return Allow(), nil }, `{`, "the payload of tool.pre: not JSON: expected a key at byte 1, found the end"},
		"unwritable":    {func(Event) (Decision, error) { return Modify(math.NaN()), nil }, `{}`, "the new payload cannot be written as JSON: JSON has no NaN"},
		"a panic":       {func(Event) (Decision, error) { panic("boom") }, `{}`, "panic: boom"},
		"a panic error": {func(Event) (Decision, error) { panic(errors.New("boom")) }, `{}`, "panic: boom"},
		"a panic value": {func(Event) (Decision, error) { panic([]int{1}) }, `{}`, "panic: [1]"},
		"a panic thing": {func(Event) (Decision, error) { panic(func() {}) }, `{}`, "panic: a func()"},
		"a nil pointer": {func(Event) (Decision, error) { return Block(nobody.Name), nil }, `{}`, "panic: runtime error: invalid memory address or nil pointer dereference"},
		"a wrong place": {func(Event) (Decision, error) { Context("x", "nowhere"); return Allow(), nil }, `{}`,
			`panic: hookbox knows no "nowhere" here, only system-reminder, system-message, prepend-to-prompt, append-to-output`},
		"a wrong shape": {func(event Event) (Decision, error) {
			var call struct{ Args struct{ Command string } }
			return Allow(), event.Bind(&call)
		}, `{"args": {"command": ["rm"]}}`, "the payload of tool.pre: args.command: a list does not fit into string"},
		"twins": {func(event Event) (Decision, error) {
			var call struct{ Args struct{ Command string } }
			return Allow(), event.Bind(&call)
		}, `{"args": {"command": "rm", "COMMAND": "ls"}}`, `the payload of tool.pre: args: the keys "COMMAND" and "command" differ only in case`},
	} {
		decision, failed := with(t, test.handler, test.payload)
		if failed == nil || failed.message != test.want {
			t.Errorf("%s: got %v and %+v, want %s", name, decision, failed, test.want)
		}
	}
}

func explode() { panic("boom") }

func TestATraceBeginsWhereThePanicWas(t *testing.T) {
	_, failed := with(t, func(Event) (Decision, error) { explode(); return Allow(), nil }, `{}`)
	if failed == nil || !strings.HasPrefix(failed.stack, "hookbox.dev/guest.explode(") || !strings.Contains(failed.stack, "decide_test.go") {
		t.Errorf("got %+v", failed)
	}
}

func TestPayloadsOfAllKinds(t *testing.T) {
	for payload, want := range map[string]string{
		`null`: "modify: [null,null]",
		`[1]`:  "modify: [null,[1]]",
		`{"n": 1e400, "i": 12345678901234567890123}`: `modify: [{"i":12345678901234567890123,"n":1e400},{"i":12345678901234567890123,"n":1e400}]`,
	} {
		decision, failed := with(t, func(event Event) (Decision, error) {
			var bound any
			err := event.Bind(&bound)
			var natural any
			if event.Payload != nil {
				natural = event.Payload
			}
			return Modify([]any{natural, bound}), err
		}, payload)
		if failed != nil || decision.String() != want {
			t.Errorf("%s: got %v and %+v, want %s", payload, decision, failed, want)
		}
	}
}

func TestDecisionsCanBeCompared(t *testing.T) {
	if Modify(map[string]any{"b": 1, "a": 2}) != Modify(map[string]any{"a": 2, "b": 1}) || Block("a") == Block("b") || Block("") == Ask("") {
		t.Error("equal decisions differ, or others do not")
	}
}

func TestEffectsAreQueuedInOrderWithTheirDefaults(t *testing.T) {
	_, failed := with(t, func(Event) (Decision, error) {
		Context("one")
		Remind(Reminder{Body: "two"})
		Context("three", AppendToOutput)
		return Allow(), nil
	}, `{}`)
	if failed != nil || len(queued) != 3 {
		t.Fatalf("got %+v and %+v", queued, failed)
	}
	second := queued[1].reminder
	if queued[0].placement != SystemReminder || queued[2].placement != AppendToOutput || second.Propagate != PropagateSession || second.RoleHint != RoleSystem {
		t.Errorf("got %+v", queued)
	}
}

func TestASecondHandlerIsRefused(t *testing.T) {
	with(t, func(Event) (Decision, error) { return Allow(), nil }, `{}`)
	defer func() {
		if recover() == nil {
			t.Error("it was taken")
		}
	}()
	Handle(func(Event) (Decision, error) { return Allow(), nil })
}

func TestTimesToLiveNeverBecomeForEver(t *testing.T) {
	for ttl, want := range map[time.Duration]uint64{
		0: 0, -time.Second: 1, 1: 1, time.Millisecond: 1, time.Millisecond + 1: 2, math.MaxInt64: 9_223_372_036_855,
	} {
		if got := milliseconds(ttl); got != want {
			t.Errorf("%v: got %d, want %d", ttl, got, want)
		}
	}
}

func TestNumbers(t *testing.T) {
	integer, real := Number{integer: 3}, Number{real: 2.5, isReal: true}
	if !integer.IsInteger() || real.IsInteger() || integer.Float() != 3 || real.Int() != 2 || integer.String() != "3" || real.String() != "2.5" {
		t.Errorf("got %v and %v", integer, real)
	}
}
