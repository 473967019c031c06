package hookbox

import "errors"

// Event is a point in the agent's loop at which the hook is asked.
type Event struct {
	// Name is the event's name, for example tool.pre.
	Name string
	// Payload is what the event carries; its shape depends on the name. Numbers
	// are of the type json.Number, so that integers of any size survive. It is nil
	// if the payload is null or no object; Bind reads such a one.
	Payload map[string]any
	// ID tells this event from every other one of the same run.
	ID string
	// Subject is what the event is about, for example the name of the tool. It is
	// empty if the event is about nothing in particular.
	Subject string
	// Hook is the name this hook is registered under.
	Hook string
	// Depth is 0 for an event of the agent, and one more for each Events.Emit or
	// Tools.Call that it took to get here.
	Depth uint32

	// other is a payload that is no object.
	other any
}

// Bind stores the payload in what into points to, by the rules and with the tags
// of encoding/json. It fails if the payload has another shape, and if an object
// has two keys for the same field, which then differ in case: the hook would see
// one of them, and a tool the other.
func (e Event) Bind(into any) error {
	var payload any = e.Payload
	if e.Payload == nil {
		payload = e.other
	}
	if err := bind(payload, into); err != nil {
		return errors.New("the payload of " + e.Name + ": " + err.Error())
	}
	return nil
}

// receive makes the event that a handler sees.
func receive(event Event, payload string) (Event, error) {
	value, err := parse(payload)
	if err != nil {
		return Event{}, errors.New("the payload of " + event.Name + ": " + err.Error())
	}
	if object, isObject := value.(map[string]any); isObject {
		event.Payload = object
	} else {
		event.other = value
	}
	return event, nil
}
