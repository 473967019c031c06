// The conformance hook: does what `args.do` says.
package main

import (
	"encoding/json"
	"errors"
	"fmt"

	hookbox "hookbox.dev/guest"
)

func init() { hookbox.Handle(handle) }

func main() {}

// call is one event with its arguments.
type call struct {
	hookbox.Event
	args map[string]any
}

// modes are what can be asked for; modes_*.go has them.
var modes = map[string]func(call) (hookbox.Decision, error){
	"allow":  func(call) (hookbox.Decision, error) { return hookbox.Allow(), nil },
	"block":  func(c call) (hookbox.Decision, error) { return hookbox.Block(c.text("reason")), nil },
	"ask":    func(c call) (hookbox.Decision, error) { return hookbox.Ask(c.text("message")), nil },
	"modify": func(c call) (hookbox.Decision, error) { return note(c.args["value"], nil) },
	"echo":   func(c call) (hookbox.Decision, error) { return hookbox.Modify(c.Payload), nil },
	"event":  describe,

	"context":       contexts,
	"reminder":      reminder,
	"effects-block": effectsBlock,
	"log":           logs,
	"metrics":       metrics,

	"cache":            cache,
	"cache-ttl":        cacheTTL,
	"cache-quota":      cacheQuota,
	"cache-wrong-type": cacheWrongType,

	"http-get":     httpGet,
	"http-post":    httpPost,
	"tools":        tools,
	"env":          env,
	"files":        files,
	"files-list":   filesList,
	"hooks":        hooks,
	"hooks-source": hooksSource,
	"emit":         emit,
	"clock":        clock,
	"random":       random,

	"error":     func(c call) (hookbox.Decision, error) { return hookbox.Decision{}, errors.New(c.text("message")) },
	"panic":     func(c call) (hookbox.Decision, error) { panic(c.text("message")) },
	"nothing":   func(call) (hookbox.Decision, error) { return hookbox.Decision{}, nil },
	"loop":      loop,
	"memory":    memory,
	"recursion": recursion,
}

func handle(event hookbox.Event) (hookbox.Decision, error) {
	args, _ := event.Payload["args"].(map[string]any)
	name, isAsked := args["do"].(string)
	if !isAsked {
		return hookbox.Allow(), nil
	}
	mode, found := modes[name]
	if !found {
		return hookbox.Decision{}, fmt.Errorf("unknown mode: %s", name)
	}
	return mode(call{Event: event, args: args})
}

// note answers with a value, or with the kind of the host's error.
func note(value any, err error) (hookbox.Decision, error) {
	var refused *hookbox.Error
	if errors.As(err, &refused) {
		value = map[string]any{"error": refused.Kind}
	} else if err != nil {
		return hookbox.Decision{}, err
	}
	return hookbox.Modify(map[string]any{"note": value}), nil
}

// orNull returns a value that is there, and null otherwise.
func orNull[T any](value T, found bool) any {
	if found {
		return value
	}
	return nil
}

// text returns an argument that is a string.
func (c call) text(name string) string {
	text, _ := c.args[name].(string)
	return text
}

// integer returns an argument that is an integer.
func (c call) integer(name string) int64 {
	number, _ := c.args[name].(json.Number)
	integer, _ := number.Int64()
	return integer
}

func describe(c call) (hookbox.Decision, error) {
	return note(map[string]any{
		"name":    c.Name,
		"id":      c.ID,
		"subject": orNull(c.Subject, c.Subject != ""),
		"hook":    c.Hook,
		"depth":   c.Depth,
	}, nil)
}
