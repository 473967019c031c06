package hookbox

import (
	"math"
	"runtime"
	"unsafe"
)

// Each import is called in the line after result, so that nothing comes between.
// Texts are taken out of a result where they are; whoever takes out several, with
// something allocated in between, keeps the result alive until the last.

// problem returns the error of a result, if it is one.
func (a area) problem(kinds []string) error {
	if a.byteAt(0) == 0 {
		return nil
	}
	message := a.textAt(errorText)
	return &Error{Kind: kinds[a.byteAt(errorKind)], Message: message}
}

func hostLog(level uint32, message string) { importLogWrite(level, message) }

// hostQueued does nothing: effects go out with the answer.
func hostQueued(effect) {}

func hostMetricsIncr(name string, by int64) Number {
	out := result()
	importMetricsIncr(name, by, out.at)
	return out.numberAt(0, numberValue)
}

func hostMetricsSet(name string, value Number) {
	if value.isReal {
		importMetricsSet(name, 1, math.Float64bits(value.real))
		return
	}
	importMetricsSet(name, 0, uint64(value.integer))
}

func hostMetricsGet(name string) (Number, bool) {
	out := result()
	importMetricsGet(name, out.at)
	if out.byteAt(0) == 0 {
		return Number{}, false
	}
	return out.numberAt(optionNumberKind, optionNumberValue), true
}

func hostMetricsSnapshot() []Metric {
	out := result()
	importMetricsSnapshot(out.at)
	list, count := out.listAt(0)
	metrics := make([]Metric, count)
	for index := range metrics {
		one := list.from(uint32(index) * metricSize)
		metrics[index] = Metric{Name: one.textAt(0), Value: one.numberAt(metricNumberKind, metricNumberValue)}
	}
	runtime.KeepAlive(out)
	return metrics
}

func (a area) numberAt(kind, value uint32) Number {
	if a.byteAt(kind) != 0 {
		return Number{real: math.Float64frombits(a.longAt(value)), isReal: true}
	}
	return Number{integer: int64(a.longAt(value))}
}

func hostCacheGet(key string) (string, bool, error) {
	out := result()
	importCacheGet(key, out.at)
	return out.optionalText(cacheErrors)
}

func (a area) optionalText(kinds []string) (string, bool, error) {
	if err := a.problem(kinds); err != nil || a.byteAt(okFlag) == 0 {
		return "", false, err
	}
	return a.textAt(okOptionalText), true, nil
}

func hostCacheSet(key, value string, ttl uint64) error {
	out := result()
	importCacheSet(key, value, uint32(flag(ttl != 0)), ttl, out.at)
	return out.problem(cacheErrors)
}

func hostCacheHas(key string) (bool, error) {
	out := result()
	importCacheHas(key, out.at)
	return out.flag(cacheErrors)
}

func hostCacheDelete(key string) (bool, error) {
	out := result()
	importCacheDelete(key, out.at)
	return out.flag(cacheErrors)
}

func (a area) flag(kinds []string) (bool, error) {
	if err := a.problem(kinds); err != nil {
		return false, err
	}
	return a.byteAt(okFlag) != 0, nil
}

func hostCacheIncrement(key string, by int64, ttl uint64) (int64, error) {
	out := result()
	importCacheIncrement(key, by, uint32(flag(ttl != 0)), ttl, out.at)
	if out.byteAt(0) != 0 {
		message := out.textAt(wideErrorText)
		return 0, &Error{Kind: cacheErrors[out.byteAt(wideErrorKind)], Message: message}
	}
	return int64(out.longAt(wideOK)), nil
}

func hostCacheCompareAndSet(key string, old *string, value string, ttl uint64) (bool, error) {
	var expected string
	if old != nil {
		expected = *old
	}
	out := result()
	importCacheCompareAndSet(key, uint32(flag(old != nil)), expected, value, uint32(flag(ttl != 0)), ttl, out.at)
	return out.flag(cacheErrors)
}

func hostHTTPSend(request Request) (*Response, error) {
	headers := area{allocate(uint32(len(request.Headers)) * headerSize)}
	for index, header := range request.Headers {
		one := headers.from(uint32(index) * headerSize)
		one.setText(0, header[0])
		one.setText(headerValue, header[1])
	}
	timeout := uint32(min(milliseconds(request.Timeout), math.MaxUint32))
	out := result()
	importHTTPSend(request.Method, request.URL, headers.at, uint32(len(request.Headers)),
		uint32(flag(request.Body != nil)), unsafe.Pointer(unsafe.SliceData(request.Body)), uint32(len(request.Body)),
		uint32(flag(timeout != 0)), timeout, out.at)
	if err := out.problem(httpErrors); err != nil {
		return nil, err
	}
	response := out.response()
	runtime.KeepAlive(out)
	return response, nil
}

func (a area) response() *Response {
	list, count := a.listAt(responseHeaders)
	headers := make(Headers, count)
	for index := range headers {
		one := list.from(uint32(index) * headerSize)
		headers[index] = [2]string{one.textAt(0), one.textAt(headerValue)}
	}
	return &Response{
		Status:  int(a.wordAt(responseStatus) & math.MaxUint16),
		Headers: headers,
		Body:    a.bytesAt(responseBody),
		URL:     a.textAt(responseURL),
	}
}

func hostEmit(name, payload string) (string, error) {
	out := result()
	importEmit(name, payload, out.at)
	return out.text(eventErrors)
}

func hostToolCall(name, args string) (string, error) {
	out := result()
	importToolCall(name, args, out.at)
	return out.text(toolErrors)
}

func (a area) text(kinds []string) (string, error) {
	if err := a.problem(kinds); err != nil {
		return "", err
	}
	return a.textAt(okText), nil
}

func hostEnvGet(name string) (string, bool, error) {
	out := result()
	importEnvGet(name, out.at)
	return out.optionalText(grantErrors)
}

func hostFileRead(path string) ([]byte, error) {
	out := result()
	importFileRead(path, out.at)
	if err := out.problem(fileErrors); err != nil {
		return nil, err
	}
	return out.bytesAt(okText), nil
}

func hostFileList(path string) ([]string, error) {
	out := result()
	importFileEntries(path, out.at)
	if err := out.problem(fileErrors); err != nil {
		return nil, err
	}
	list, count := out.listAt(okText)
	names := make([]string, count)
	for index := range names {
		names[index] = list.textAt(uint32(index) * textSize)
	}
	runtime.KeepAlive(out)
	return names, nil
}

func hostHooksAll() ([]Hook, error) {
	out := result()
	importHooksAll(out.at)
	if err := out.problem(grantErrors); err != nil {
		return nil, err
	}
	list, count := out.listAt(okText)
	hooks := make([]Hook, count)
	for index := range hooks {
		hooks[index] = list.from(uint32(index) * hookSize).hook()
	}
	runtime.KeepAlive(out)
	return hooks, nil
}

func (a area) hook() Hook {
	hook := Hook{
		Name:             a.textAt(0),
		Event:            a.textAt(hookEvent),
		Priority:         int64(a.longAt(hookPriority)),
		ExplicitPriority: a.byteAt(hookExplicit) != 0,
		Handler:          a.textAt(hookHandler),
		File:             a.textAt(hookFile),
	}
	if a.byteAt(hookHasWhen) != 0 {
		hook.When = a.textAt(hookWhen)
	}
	return hook
}

func hostHooksSource(name string) (string, bool, error) {
	out := result()
	importHooksSource(name, out.at)
	return out.optionalText(grantErrors)
}

func hostClockNow() uint64 { return importClockNow() }

func hostRandomBytes(count uint32) []byte {
	out := result()
	importRandomBytes(count, out.at)
	return out.bytesAt(0)
}
