package hookbox

import "strconv"

// Placement says where a text for the model is put.
type Placement string

// The places for a text; SystemReminder is the default.
const (
	SystemReminder  Placement = "system-reminder"
	SystemMessage   Placement = "system-message"
	PrependToPrompt Placement = "prepend-to-prompt"
	AppendToOutput  Placement = "append-to-output"
)

// Propagation says how far a reminder travels.
type Propagation string

// How far a reminder can travel; PropagateSession is the default.
const (
	PropagateAll     Propagation = "all"
	PropagateSession Propagation = "session"
	PropagateNone    Propagation = "none"
)

// RoleHint says in whose voice a reminder is spoken.
type RoleHint string

// The voices of a reminder; RoleSystem is the default.
const (
	RoleSystem         RoleHint = "system"
	RoleDeveloper      RoleHint = "developer"
	RoleUserBlock      RoleHint = "user-block"
	RoleEphemeralCache RoleHint = "ephemeral-cache"
)

// Reminder is a text for the model that stays for some turns. Only the body has
// to be set.
type Reminder struct {
	Body string
	Tags []string
	// DedupeKey lets a newer reminder with the same key take this one's place.
	DedupeKey string
	// TTLTurns says for how many turns it stays; 0 means until the end.
	TTLTurns          uint32
	PreserveOnCompact bool
	Propagate         Propagation
	RoleHint          RoleHint
}

// In the order of the contract: the place in a list is what is sent.
var (
	placements   = []Placement{SystemReminder, SystemMessage, PrependToPrompt, AppendToOutput}
	propagations = []Propagation{PropagateAll, PropagateSession, PropagateNone}
	roleHints    = []RoleHint{RoleSystem, RoleDeveloper, RoleUserBlock, RoleEphemeralCache}
)

// effect is what goes out beside the decision: a reminder, or a text for a place.
type effect struct {
	reminder  *Reminder
	text      string
	placement Placement
}

// queued holds the effects of this call, in order.
var queued []effect

// Context gives the model a text. It can be called any time during the call and
// goes out with the answer. It panics if there is no such placement.
func Context(text string, placement ...Placement) {
	place := SystemReminder
	if len(placement) > 0 {
		place = placement[0]
	}
	position(placements, place)
	queue(effect{text: text, placement: place})
}

// Remind gives the model a text that stays for some turns. It can be called any
// time during the call and goes out with the answer. It panics if the reminder
// has a propagation or role hint that does not exist.
func Remind(reminder Reminder) {
	if reminder.Propagate == "" {
		reminder.Propagate = PropagateSession
	}
	if reminder.RoleHint == "" {
		reminder.RoleHint = RoleSystem
	}
	position(propagations, reminder.Propagate)
	position(roleHints, reminder.RoleHint)
	queue(effect{reminder: &reminder})
}

func queue(effect effect) {
	queued = append(queued, effect)
	hostQueued(effect)
}

// position returns the place of a name in a list.
func position[T ~string](names []T, name T) uint8 {
	for place, known := range names {
		if known == name {
			return uint8(place)
		}
	}
	panic("hookbox knows no " + strconv.Quote(string(name)) + " here, only " + list(names))
}

func list[T ~string](names []T) string {
	text := ""
	for place, name := range names {
		if place > 0 {
			text += ", "
		}
		text += string(name)
	}
	return text
}
