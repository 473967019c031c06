//go:build !wasip1

package hookbox

import (
	"sort"
	"strconv"
	"strings"

	"hookbox.dev/guest/internal/standin"
)

var levels = []string{"debug", "info", "warn", "error"}

func asError(problem standin.Problem) error {
	if problem == (standin.Problem{}) {
		return nil
	}
	return &Error{Kind: problem.Kind, Message: problem.Message}
}

func hostLog(level uint32, message string) {
	standin.Current.Logs = append(standin.Current.Logs, standin.Line{Level: levels[level], Message: message})
}

func hostQueued(effect effect) {
	host := standin.Current
	if effect.reminder != nil {
		host.Effects = append(host.Effects, *effect.reminder)
		return
	}
	host.Effects = append(host.Effects, effect.text)
}

func hostMetricsIncr(name string, by int64) Number {
	value := standin.Current.Metrics[name]
	if value.IsReal {
		value.Real += float64(by)
	} else {
		value.Integer += by
	}
	standin.Current.Metrics[name] = value
	return asNumber(value)
}

func hostMetricsSet(name string, value Number) {
	standin.Current.Metrics[name] = standin.Number{Integer: value.integer, Real: value.real, IsReal: value.isReal}
}

func hostMetricsGet(name string) (Number, bool) {
	value, found := standin.Current.Metrics[name]
	return asNumber(value), found
}

func hostMetricsSnapshot() []Metric {
	metrics := []Metric{}
	for name, value := range standin.Current.Metrics {
		metrics = append(metrics, Metric{Name: name, Value: asNumber(value)})
	}
	sort.Slice(metrics, func(a, b int) bool { return metrics[a].Name < metrics[b].Name })
	return metrics
}

func asNumber(value standin.Number) Number {
	return Number{integer: value.Integer, real: value.Real, isReal: value.IsReal}
}

// Time does not pass here, so that nothing expires.

func hostCacheGet(key string) (string, bool, error) {
	text, found := standin.Current.Cache[key]
	return text, found, nil
}

func hostCacheSet(key, value string, _ uint64) error {
	standin.Current.Cache[key] = value
	return nil
}

func hostCacheHas(key string) (bool, error) {
	_, found := standin.Current.Cache[key]
	return found, nil
}

func hostCacheDelete(key string) (bool, error) {
	_, found := standin.Current.Cache[key]
	delete(standin.Current.Cache, key)
	return found, nil
}

func hostCacheIncrement(key string, by int64, _ uint64) (int64, error) {
	sum := by
	if text, found := standin.Current.Cache[key]; found {
		old, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return 0, &Error{Kind: "wrong-type", Message: key + " is not an integer"}
		}
		sum += old
	}
	standin.Current.Cache[key] = strconv.FormatInt(sum, 10)
	return sum, nil
}

func hostCacheCompareAndSet(key string, old *string, value string, _ uint64) (bool, error) {
	text, found := standin.Current.Cache[key]
	if found != (old != nil) || found && text != *old {
		return false, nil
	}
	standin.Current.Cache[key] = value
	return true, nil
}

func hostHTTPSend(request Request) (*Response, error) {
	answer, problem := standin.Current.Send(standin.Request{
		Method: request.Method, URL: request.URL, Headers: request.Headers, Body: request.Body,
	})
	if err := asError(problem); err != nil {
		return nil, err
	}
	return &Response{Status: answer.Status, Headers: answer.Headers, Body: answer.Body, URL: request.URL}, nil
}

func hostEmit(name, payload string) (string, error) {
	answer, problem := standin.Current.Emit(name, payload)
	return answer, asError(problem)
}

func hostToolCall(name, args string) (string, error) {
	answer, problem := standin.Current.Call(name, args)
	return answer, asError(problem)
}

func hostEnvGet(name string) (string, bool, error) {
	value, found := standin.Current.Env[name]
	return value, found, nil
}

func hostFileRead(path string) ([]byte, error) {
	if bytes, found := standin.Current.Files[path]; found {
		return bytes, nil
	}
	return nil, &Error{Kind: "not-found", Message: "there is no file " + path}
}

func hostFileList(path string) ([]string, error) {
	prefix := strings.TrimSuffix(path, "/") + "/"
	seen := map[string]bool{}
	for file := range standin.Current.Files {
		if below, found := strings.CutPrefix(file, prefix); found {
			name, _, isDirectory := strings.Cut(below, "/")
			if isDirectory {
				name += "/"
			}
			seen[name] = true
		}
	}
	if len(seen) == 0 {
		return nil, &Error{Kind: "not-found", Message: "there is no directory " + path}
	}
	names := []string{}
	for name := range seen {
		names = append(names, name)
	}
	sort.Strings(names)
	return names, nil
}

func hostHooksAll() ([]Hook, error) {
	hooks := []Hook{}
	for _, hook := range standin.Current.Hooks {
		hooks = append(hooks, Hook{
			Name: hook.Name, Event: hook.Event, Priority: hook.Priority, ExplicitPriority: hook.ExplicitPriority,
			When: hook.When, Handler: hook.Handler, File: hook.File,
		})
	}
	return hooks, nil
}

func hostHooksSource(name string) (string, bool, error) {
	for _, hook := range standin.Current.Hooks {
		if hook.Name == name {
			return hook.Source, true, nil
		}
	}
	return "", false, nil
}

func hostClockNow() uint64 { return standin.Current.Now }

// hostRandomBytes counts: what a test is given has to be the same every time.
func hostRandomBytes(count uint32) []byte {
	bytes := make([]byte, count)
	for index := range bytes {
		bytes[index] = byte(standin.Current.Drawn)
		standin.Current.Drawn++
	}
	return bytes
}
