package hookbox

import "errors"

// Events sends events of the hook's own making.
var Events EventBus

// EventBus sends events; [Events] is the one there is.
type EventBus struct{}

// Emit sends a custom.* event through its own chain and stores the payload that
// comes out in what into points to; into may be nil.
func (EventBus) Emit(name string, payload, into any) error {
	text, err := encode(payload)
	if err != nil {
		return errors.New("the payload for " + name + " cannot be written as JSON: " + err.Error())
	}
	answer, err := hostEmit(name, text)
	if err != nil || into == nil {
		return err
	}
	if err := decode(answer, into); err != nil {
		return errors.New("the payload that came out of " + name + ": " + err.Error())
	}
	return nil
}
