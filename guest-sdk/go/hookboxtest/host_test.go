package hookboxtest_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	hookbox "hookbox.dev/guest"
	"hookbox.dev/guest/hookboxtest"
)

func TestLogMetricsAndEffectsAreKept(t *testing.T) {
	host := hookboxtest.New(t)
	hookbox.Log.Debug("a")
	hookbox.Log.Error("b")
	hookbox.Metrics.Incr("count", 2)
	hookbox.Metrics.SetFloat("gauge", 0.5)
	hookbox.Metrics.Incr("gauge", 1)
	hookbox.Context("text")
	hookbox.Remind(hookbox.Reminder{Body: "body"})
	if got := host.Logs(); !slices.Equal(got, []string{"debug: a", "error: b"}) {
		t.Errorf("logged %q", got)
	}
	if host.Metric("count") != 2 || host.Metric("gauge") != 1.5 || host.Metric("none") != 0 {
		t.Errorf("got %v", hookbox.Metrics.Snapshot())
	}
	if value, found := hookbox.Metrics.Get("count"); !found || value.Int() != 2 {
		t.Errorf("got %v and %v", value, found)
	}
	if effects := host.Effects(); len(effects) != 2 || effects[0] != "text" || effects[1].(hookbox.Reminder).Body != "body" {
		t.Errorf("got %v", effects)
	}
}

func TestTheCacheDoesWhatTheContractSays(t *testing.T) {
	host := hookboxtest.New(t)
	host.SetCache("there", map[string]any{"n": 1})
	var value struct{ N int }
	if found, err := hookbox.Cache.Get("there", &value); !found || err != nil || value.N != 1 {
		t.Errorf("got %v, %v and %v", value, found, err)
	}
	if found, err := hookbox.Cache.Get("absent", &value); found || err != nil {
		t.Errorf("got %v and %v", found, err)
	}
	if sum, err := hookbox.Cache.Increment("sum", 5, time.Minute); sum != 5 || err != nil {
		t.Errorf("got %v and %v", sum, err)
	}
	var refused *hookbox.Error
	if _, err := hookbox.Cache.Increment("there", 1, 0); !errors.As(err, &refused) || refused.Kind != "wrong-type" {
		t.Errorf("got %v", err)
	}
	for _, step := range []struct {
		expected, value any
		want            bool
	}{
		{hookbox.Absent, 1, true}, {hookbox.Absent, 2, false}, {nil, 2, false}, {1, nil, true}, {nil, 3, true},
	} {
		if got, err := hookbox.Cache.CompareAndSet("c", step.expected, step.value, 0); got != step.want || err != nil {
			t.Errorf("%v to %v: got %v and %v", step.expected, step.value, got, err)
		}
	}
	if deleted, err := hookbox.Cache.Delete("c"); !deleted || err != nil || host.Cached("c") != "" {
		t.Errorf("got %v and %v", deleted, err)
	}
	if has, err := hookbox.Cache.Has("c"); has || err != nil {
		t.Errorf("got %v and %v", has, err)
	}
}

func TestRequestsAreAnsweredByTheTest(t *testing.T) {
	host := hookboxtest.New(t)
	var refused *hookbox.Error
	if _, err := hookbox.HTTP.Get("https://example.com/"); !errors.As(err, &refused) || refused.Kind != "not-granted" {
		t.Errorf("without an answer: got %v", err)
	}
	host.Serve(func(request hookbox.Request) (hookbox.Response, error) {
		if request.Method == "POST" {
			return hookbox.Response{}, &hookbox.Error{Kind: "timeout", Message: "too slow"}
		}
		return hookbox.Response{Status: 200, Headers: hookbox.Headers{{"X-One", "1"}}, Body: []byte("{\"got\": \"" + request.URL + "\xff\"}")}, nil
	})
	response, err := hookbox.HTTP.Get("https://example.com/a")
	if err != nil || response.Status != 200 || response.Headers.Get("x-one") != "1" || response.Headers.Get("none") != "" {
		t.Fatalf("got %v and %v", response, err)
	}
	var body map[string]string
	if err := response.JSON(&body); err != nil || body["got"] != "https://example.com/a\ufffd" {
		t.Errorf("got %v and %v", body, err)
	}
	if _, err := hookbox.HTTP.Post("https://example.com/b", nil); !errors.As(err, &refused) || refused.Error() != "timeout: too slow" {
		t.Errorf("got %v", err)
	}
	if got := host.Sent(); !slices.Equal(got, []string{"GET https://example.com/a", "POST https://example.com/b"}) {
		t.Errorf("sent %q", got)
	}
}

func TestToolsEventsFilesAndTheRest(t *testing.T) {
	host := hookboxtest.New(t)
	host.SetTool("lookup", func(args map[string]any) (any, error) {
		if args["q"] != "x" {
			return nil, errors.New("no such thing")
		}
		return []int{1}, nil
	})
	var found []int
	if err := hookbox.Tools.Call("lookup", map[string]any{"q": "x"}, &found); err != nil || !slices.Equal(found, []int{1}) {
		t.Errorf("got %v and %v", found, err)
	}
	var refused *hookbox.Error
	if err := hookbox.Tools.Call("lookup", map[string]any{}, nil); !errors.As(err, &refused) || refused.Kind != "failed" {
		t.Errorf("got %v", err)
	}
	if err := hookbox.Tools.Call("other", nil, nil); !errors.As(err, &refused) || refused.Kind != "unknown-tool" {
		t.Errorf("got %v", err)
	}
	var payload map[string]int
	if err := hookbox.Events.Emit("custom.x", map[string]int{"n": 1}, &payload); err != nil || payload["n"] != 1 {
		t.Errorf("got %v and %v", payload, err)
	}
	host.SetEnv("CI", "1")
	if value, set, err := hookbox.Env.Get("CI"); value != "1" || !set || err != nil {
		t.Errorf("got %v, %v and %v", value, set, err)
	}
	host.SetFile("docs/a.txt", []byte("a"))
	host.SetFile("docs/sub/b.txt", []byte("b"))
	if names, err := hookbox.Files.List("docs"); err != nil || !slices.Equal(names, []string{"a.txt", "sub/"}) {
		t.Errorf("got %q and %v", names, err)
	}
	if _, err := hookbox.Files.Read("docs/c.txt"); !errors.As(err, &refused) || refused.Kind != "not-found" {
		t.Errorf("got %v", err)
	}
	host.AddHook(hookbox.Hook{Name: "guard", Event: "tool.pre"}, "---")
	if hooks, err := hookbox.Hooks.List(); err != nil || len(hooks) != 1 || hooks[0].Name != "guard" {
		t.Errorf("got %v and %v", hooks, err)
	}
	if source, found, err := hookbox.Hooks.Source("guard"); source != "---" || !found || err != nil {
		t.Errorf("got %q, %v and %v", source, found, err)
	}
	host.SetTime(time.UnixMilli(1234))
	if now := hookbox.Clock.Now(); now.UnixMilli() != 1234 {
		t.Errorf("got %v", now)
	}
	if bytes := hookbox.Random.Bytes(100_000); len(bytes) != 100_000 {
		t.Errorf("got %d bytes", len(bytes))
	}
}
