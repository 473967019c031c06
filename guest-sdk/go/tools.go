package hookbox

import "errors"

// Tools calls the agent's tools. It needs a grant.
var Tools ToolBox

// ToolBox calls tools; [Tools] is the one there is.
type ToolBox struct{}

// Call calls a tool and stores its result in what into points to; into may be
// nil. The call passes tool.pre and tool.post like any call of the model's.
func (ToolBox) Call(name string, args, into any) error {
	text, err := encode(args)
	if err != nil {
		return errors.New("the arguments for " + name + " cannot be written as JSON: " + err.Error())
	}
	answer, err := hostToolCall(name, text)
	if err != nil || into == nil {
		return err
	}
	if err := decode(answer, into); err != nil {
		return errors.New("the result of " + name + ": " + err.Error())
	}
	return nil
}
