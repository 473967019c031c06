package hookbox

// Hooks are the project's hooks, for hooks that watch over hooks. It needs a grant.
var Hooks HookList

// HookList holds the project's hooks; [Hooks] is the one there is.
type HookList struct{}

// Hook is one of the project's hooks.
type Hook struct {
	Name     string
	Event    string
	Priority int64
	// ExplicitPriority says whether the priority was written down.
	ExplicitPriority bool
	// When is the condition; empty if there is none.
	When string
	// Handler is what runs: starlark, component or none.
	Handler string
	// File is where it is written, relative to the project.
	File string
}

// List returns all hooks, in the order of registration.
func (HookList) List() ([]Hook, error) {
	return hostHooksAll()
}

// Source returns the text of the file a hook is written in, and whether there is
// a hook of this name.
func (HookList) Source(name string) (string, bool, error) {
	return hostHooksSource(name)
}
