package main

import (
	"strings"
	"time"

	hookbox "hookbox.dev/guest"
)

func contexts(c call) (hookbox.Decision, error) {
	var all struct {
		Args struct {
			Contexts []struct {
				Text      string            `json:"text"`
				Placement hookbox.Placement `json:"placement"`
			} `json:"contexts"`
		} `json:"args"`
	}
	if err := c.Bind(&all); err != nil {
		return hookbox.Decision{}, err
	}
	for _, context := range all.Args.Contexts {
		if context.Placement == "" {
			hookbox.Context(context.Text)
		} else {
			hookbox.Context(context.Text, context.Placement)
		}
	}
	return hookbox.Allow(), nil
}

func reminder(c call) (hookbox.Decision, error) {
	var given struct {
		Args struct {
			Body              string              `json:"body"`
			Tags              []string            `json:"tags"`
			DedupeKey         string              `json:"dedupe_key"`
			TTLTurns          uint32              `json:"ttl_turns"`
			PreserveOnCompact bool                `json:"preserve_on_compact"`
			Propagate         hookbox.Propagation `json:"propagate"`
			RoleHint          hookbox.RoleHint    `json:"role_hint"`
		} `json:"args"`
	}
	if err := c.Bind(&given); err != nil {
		return hookbox.Decision{}, err
	}
	hookbox.Remind(hookbox.Reminder{
		Body:              given.Args.Body,
		Tags:              given.Args.Tags,
		DedupeKey:         given.Args.DedupeKey,
		TTLTurns:          given.Args.TTLTurns,
		PreserveOnCompact: given.Args.PreserveOnCompact,
		Propagate:         given.Args.Propagate,
		RoleHint:          given.Args.RoleHint,
	})
	return hookbox.Allow(), nil
}

func effectsBlock(call) (hookbox.Decision, error) {
	hookbox.Context("first")
	hookbox.Remind(hookbox.Reminder{Body: "second"})
	return hookbox.Block("with effects"), nil
}

func logs(c call) (hookbox.Decision, error) {
	hookbox.Log.Debug(c.text("text"))
	hookbox.Log.Info(c.text("text"))
	hookbox.Log.Warn(c.text("text"))
	hookbox.Log.Error(c.text("text"))
	return hookbox.Allow(), nil
}

func metrics(call) (hookbox.Decision, error) {
	first := hookbox.Metrics.Incr("conformance.count", 2)
	second := hookbox.Metrics.Incr("conformance.count", 1)
	hookbox.Metrics.SetFloat("conformance.gauge", 2.5)
	hookbox.Metrics.Set("conformance.whole", 7)
	names := []string{}
	for _, metric := range hookbox.Metrics.Snapshot() {
		if strings.HasPrefix(metric.Name, "conformance.") {
			names = append(names, metric.Name)
		}
	}
	return note(map[string]any{
		"first":   first,
		"second":  second,
		"gauge":   orNull(hookbox.Metrics.Get("conformance.gauge")),
		"whole":   orNull(hookbox.Metrics.Get("conformance.whole")),
		"missing": orNull(hookbox.Metrics.Get("conformance.none")),
		"names":   names,
	}, nil)
}

func cache(c call) (hookbox.Decision, error) {
	report := map[string]any{}
	var first error
	// The steps are in the order of the lines; the first error is the answer.
	keep := func(name string) func(any, error) {
		return func(value any, err error) {
			report[name] = value
			if first == nil {
				first = err
			}
		}
	}
	get := func(key string) (any, error) {
		var value any
		_, err := hookbox.Cache.Get(key, &value)
		return value, err
	}
	first = hookbox.Cache.Set("k", c.args["value"], 0)
	keep("got")(get("k"))
	keep("has")(asAny(hookbox.Cache.Has("k")))
	keep("deleted")(asAny(hookbox.Cache.Delete("k")))
	keep("again")(asAny(hookbox.Cache.Delete("k")))
	keep("gone")(get("k"))
	keep("five")(asAny(hookbox.Cache.Increment("n", 5, 0)))
	keep("seven")(asAny(hookbox.Cache.Increment("n", 2, 0)))
	keep("fresh")(asAny(hookbox.Cache.CompareAndSet("c", hookbox.Absent, 1, 0)))
	keep("stale")(asAny(hookbox.Cache.CompareAndSet("c", hookbox.Absent, 2, 0)))
	keep("swapped")(asAny(hookbox.Cache.CompareAndSet("c", 1, map[string]any{"x": 2}, 0)))
	keep("c")(get("c"))
	return note(report, first)
}

func asAny[T any](value T, err error) (any, error) { return value, err }

func cacheTTL(call) (hookbox.Decision, error) {
	if err := hookbox.Cache.Set("t", 1, time.Minute); err != nil {
		return note(nil, err)
	}
	var value any
	_, err := hookbox.Cache.Get("t", &value)
	return note(value, err)
}

func cacheQuota(c call) (hookbox.Decision, error) {
	return note("stored", hookbox.Cache.Set("big", strings.Repeat("x", int(c.integer("size"))), 0))
}

func cacheWrongType(call) (hookbox.Decision, error) {
	if err := hookbox.Cache.Set("w", "text", 0); err != nil {
		return note(nil, err)
	}
	return note(asAny(hookbox.Cache.Increment("w", 1, 0)))
}
