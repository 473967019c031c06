package hookbox

// Log writes lines that are stored with the hook's name. What is printed to
// standard output and standard error is logged as well, as info and warn.
var Log Logger

// Logger writes log lines; [Log] is the one there is.
type Logger struct{}

const (
	levelDebug = iota
	levelInfo
	levelWarn
	levelError
)

// Debug writes a line for whoever looks for a mistake.
func (Logger) Debug(message string) { hostLog(levelDebug, message) }

// Info writes a line.
func (Logger) Info(message string) { hostLog(levelInfo, message) }

// Warn writes a line that somebody should look at.
func (Logger) Warn(message string) { hostLog(levelWarn, message) }

// Error writes a line about something that went wrong.
func (Logger) Error(message string) { hostLog(levelError, message) }
