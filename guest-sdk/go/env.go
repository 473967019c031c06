package hookbox

// Env is the environment, as far as it is granted.
var Env Environment

// Environment holds variables; [Env] is the one there is.
type Environment struct{}

// Get returns a variable, and whether it is set.
func (Environment) Get(name string) (string, bool, error) {
	return hostEnvGet(name)
}
