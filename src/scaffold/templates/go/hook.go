// Blocks commands that talk to hosts nobody put on the list.
package main

import (
	"strings"
	"unicode"

	hookbox "hookbox.dev/guest"
)

// allowed are the hosts that commands may talk to, with everything below them.
var allowed = []string{"github.com", "gitlab.com", "wikipedia.org", "docs.rs"}

func init() { hookbox.Handle(decide) }

func main() {}

// toolCall is what we need to know of the payload.
type toolCall struct {
	Args struct {
		Command string `json:"command"`
	} `json:"args"`
}

func decide(event hookbox.Event) (hookbox.Decision, error) {
	var call toolCall
	if err := event.Bind(&call); err != nil {
		return hookbox.Decision{}, err
	}
	command := call.Args.Command
	for _, host := range hosts(command) {
		if isAllowed(host) {
			continue
		}
		if host == "" {
			host = "a URL without a host"
		}
		hookbox.Log.Warn("blocked: " + command)
		hookbox.Metrics.Incr("egress.blocked", 1)
		return hookbox.Block("egress to " + host + " is not allowed; allowed hosts: " + strings.Join(allowed, ", ")), nil
	}
	return hookbox.Allow(), nil
}

// hosts returns the host of every URL in a command, in lower case.
func hosts(command string) []string {
	var found []string
	rest := strings.ToLower(command)
	for {
		scheme, after, more := strings.Cut(rest, "://")
		if !more {
			return found
		}
		if strings.HasSuffix(scheme, "http") || strings.HasSuffix(scheme, "https") {
			found = append(found, hostOf(after))
		}
		rest = after
	}
}

// hostOf returns the host in user:password@host:port/path.
func hostOf(url string) string {
	if end := strings.IndexFunc(url, endsAuthority); end >= 0 {
		url = url[:end]
	}
	host := url[strings.LastIndex(url, "@")+1:]
	if address, isIPv6 := strings.CutPrefix(host, "["); isIPv6 {
		host, _, _ = strings.Cut(address, "]")
	} else {
		host, _, _ = strings.Cut(host, ":")
	}
	return strings.TrimSuffix(host, ".")
}

// endsAuthority says where a path, a query or the shell ends the part with the host.
func endsAuthority(letter rune) bool {
	return unicode.IsSpace(letter) || strings.ContainsRune("/?#'\"`;|&)>", letter)
}

func isAllowed(host string) bool {
	for _, entry := range allowed {
		if host == entry || strings.HasSuffix(host, "."+entry) {
			return true
		}
	}
	return false
}
