package hookbox

import (
	"errors"
	"strings"
	"time"
)

// HTTP sends requests to granted places. It needs a grant.
var HTTP HTTPClient

// HTTPClient sends requests; [HTTP] is the one there is.
type HTTPClient struct{}

// Headers are names with values, in order; a name may stand there twice.
type Headers [][2]string

// Request is an HTTP request.
type Request struct {
	// Method is GET if it is empty.
	Method  string
	URL     string
	Headers Headers
	Body    []byte
	// Timeout is the host's own if it is 0.
	Timeout time.Duration
}

// Response is the answer to a request, whatever its status.
type Response struct {
	Status  int
	Headers Headers
	Body    []byte
	// URL is where the answer came from, after redirects.
	URL string
}

// Get sends a GET request.
func (c HTTPClient) Get(url string, headers ...[2]string) (*Response, error) {
	return c.Send(Request{Method: "GET", URL: url, Headers: headers})
}

// Post sends a POST request.
func (c HTTPClient) Post(url string, body []byte, headers ...[2]string) (*Response, error) {
	return c.Send(Request{Method: "POST", URL: url, Headers: headers, Body: body})
}

// Send sends a request. An answer with a status like 404 or 500 is no error.
func (HTTPClient) Send(request Request) (*Response, error) {
	if request.Method == "" {
		request.Method = "GET"
	}
	return hostHTTPSend(request)
}

// Get returns the first value of a header, or nothing. Case does not matter.
func (h Headers) Get(name string) string {
	for _, header := range h {
		if strings.EqualFold(header[0], name) {
			return header[1]
		}
	}
	return ""
}

// Text returns the body as text; what is not UTF-8 in it becomes U+FFFD.
func (r *Response) Text() string {
	return strings.ToValidUTF8(string(r.Body), "\ufffd")
}

// JSON stores the body in what into points to, by the rules of json.Unmarshal.
func (r *Response) JSON(into any) error {
	if err := decode(r.Text(), into); err != nil {
		return errors.New("the answer of " + r.URL + ": " + err.Error())
	}
	return nil
}
