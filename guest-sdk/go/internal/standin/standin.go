// Package standin holds what the host would hold, for hooks that run outside of
// WebAssembly. Everything is in memory and empty at first.
package standin

// Line is a line of the log.
type Line struct {
	Level   string
	Message string
}

// Number is the value of a metric.
type Number struct {
	Integer int64
	Real    float64
	IsReal  bool
}

// Request is an HTTP request.
type Request struct {
	Method, URL string
	Headers     [][2]string
	Body        []byte
}

// Response is the answer to a request.
type Response struct {
	Status  int
	Headers [][2]string
	Body    []byte
}

// Hook is a hook with its source.
type Hook struct {
	Name, Event, When, Handler, File, Source string
	Priority                                 int64
	ExplicitPriority                         bool
}

// Problem is an error of the contract; the empty Problem is none.
type Problem struct {
	Kind, Message string
}

// Host is everything that hooks can reach.
type Host struct {
	Logs []Line
	// Effects are texts and reminders, in order.
	Effects []any
	Metrics map[string]Number
	Cache   map[string]string
	Env     map[string]string
	Files   map[string][]byte
	Hooks   []Hook
	// Now is in milliseconds since the start of 1970.
	Now  uint64
	Send func(Request) (Response, Problem)
	Emit func(name, payload string) (string, Problem)
	Call func(name, args string) (string, Problem)
	// Drawn counts the random bytes that were given out.
	Drawn uint64
}

// Current is the host that hooks reach.
var Current = New()

// New makes a host that knows nothing. Its time is the start of the year 2000.
func New() *Host {
	return &Host{
		Metrics: map[string]Number{},
		Cache:   map[string]string{},
		Env:     map[string]string{},
		Files:   map[string][]byte{},
		Now:     946_684_800_000,
		Send: func(request Request) (Response, Problem) {
			return Response{}, Problem{Kind: "not-granted", Message: "no answer is set for " + request.Method + " " + request.URL}
		},
		Emit: func(_, payload string) (string, Problem) {
			return payload, Problem{}
		},
		Call: func(name, _ string) (string, Problem) {
			return "", Problem{Kind: "unknown-tool", Message: "no result is set for " + name}
		},
	}
}
