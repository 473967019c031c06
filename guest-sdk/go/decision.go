package hookbox

// Decision is what the hook rules. The zero Decision is none: a hook that
// returns it has failed.
type Decision struct {
	kind decisionKind
	text string
	// Kept until the answer is written: a Decision that cannot be written is the
	// handler's failure, and Modify has no second result to say so.
	problem string
}

type decisionKind uint8

const (
	noDecision decisionKind = iota
	allowed
	blocked
	modified
	asked
)

// Allow lets the event pass, unchanged.
func Allow() Decision {
	return Decision{kind: allowed}
}

// Block refuses the event. The agent reads the reason.
func Block(reason string) Decision {
	return Decision{kind: blocked, text: reason}
}

// Modify lets the event pass with another payload. An object is laid over the
// current payload key by key, so it need only hold what changes.
func Modify(payload any) Decision {
	text, err := encode(payload)
	if err != nil {
		return Decision{kind: modified, problem: "the new payload cannot be written as JSON: " + err.Error()}
	}
	return Decision{kind: modified, text: text}
}

// Ask lets a person decide. The message is the question.
func Ask(message string) Decision {
	return Decision{kind: asked, text: message}
}

// String returns the decision as text, for tests and logs.
func (d Decision) String() string {
	switch d.kind {
	case allowed:
		return "allow"
	case blocked:
		return "block: " + d.text
	case modified:
		return "modify: " + d.text + d.problem
	case asked:
		return "ask: " + d.text
	default:
		return "no decision"
	}
}
