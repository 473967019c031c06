// Asks a list of licences about every package that an agent wants to install.
package main

import (
	"fmt"
	"strings"
	"time"

	hookbox "hookbox.dev/guest"
)

// list is the service that knows the licences.
const list = "https://licences.example.com/v1/packages/"

// fresh is how long an answer of the list is good for.
const fresh = time.Hour

func init() { hookbox.Handle(decide) }

func main() {}

func decide(event hookbox.Event) (hookbox.Decision, error) {
	var call struct {
		Args struct {
			Command string `json:"command"`
		} `json:"args"`
	}
	if err := event.Bind(&call); err != nil {
		return hookbox.Decision{}, err
	}
	var doubts []string
	for _, wanted := range packages(call.Args.Command) {
		if wanted.doubt != "" {
			doubts = append(doubts, wanted.doubt)
			continue
		}
		entry, found, err := look(wanted.id)
		switch {
		case err != nil:
			return hookbox.Decision{}, err
		case !found:
			doubts = append(doubts, wanted.id+" is not on the list of licences")
		case entry.Status == "denied":
			hookbox.Metrics.Incr("licences.denied", 1)
			return hookbox.Block(fmt.Sprintf("%s is under %s, which is denied; use another package", wanted.id, entry.Licence)), nil
		case entry.Status == "review":
			doubts = append(doubts, fmt.Sprintf("%s is under %s, which is under review", wanted.id, entry.Licence))
		}
	}
	if len(doubts) > 0 {
		return hookbox.Ask("install this? " + strings.Join(doubts, "; ")), nil
	}
	return hookbox.Allow(), nil
}

// entry is what the list says about a package.
type entry struct {
	Licence string `json:"licence"`
	Status  string `json:"status"`
}

// look returns the entry of a package, from the cache or from the list, and whether
// there is one. A package that is not on the list is not remembered: somebody may
// be adding it right now.
func look(id string) (entry, bool, error) {
	var known entry
	if found, err := hookbox.Cache.Get(id, &known); err != nil || found {
		return known, found, err
	}
	response, err := hookbox.HTTP.Get(list + id)
	if err != nil {
		return entry{}, false, fmt.Errorf("the list of licences cannot be asked about %s: %w", id, err)
	}
	switch response.Status {
	case 404:
		return entry{}, false, nil
	case 200:
	default:
		return entry{}, false, fmt.Errorf("the list of licences answered %d about %s", response.Status, id)
	}
	if known, err = read(response); err != nil {
		return entry{}, false, fmt.Errorf("the list of licences answered nonsense about %s: %w", id, err)
	}
	return known, true, hookbox.Cache.Set(id, known, fresh)
}

// read takes only answers that say something: anything else must not pass for a yes.
func read(response *hookbox.Response) (entry, error) {
	var answer entry
	if err := response.JSON(&answer); err != nil {
		return entry{}, err
	}
	switch answer.Status {
	case "allowed", "denied", "review":
	default:
		return entry{}, fmt.Errorf("there is no status %q", answer.Status)
	}
	if answer.Licence == "" {
		return entry{}, fmt.Errorf("there is no licence")
	}
	return answer, nil
}
