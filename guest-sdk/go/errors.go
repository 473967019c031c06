package hookbox

// Error is what the host answered instead of a result. Use errors.As to tell
// the kinds apart.
type Error struct {
	// Kind is the case of the contract, for example not-granted, quota or timeout.
	Kind string
	// Message says what happened.
	Message string
}

// Error returns the kind and the message.
func (e *Error) Error() string {
	return e.Kind + ": " + e.Message
}

// In the order of the contract, for each interface.
var (
	cacheErrors = []string{"not-granted", "quota", "wrong-type", "unavailable"}
	httpErrors  = []string{"not-granted", "invalid-request", "timeout", "too-large", "failed"}
	eventErrors = []string{"blocked", "refused"}
	toolErrors  = []string{"not-granted", "blocked", "unknown-tool", "failed"}
	fileErrors  = []string{"not-granted", "not-found", "too-large", "failed"}
	grantErrors = []string{"not-granted"}
)
