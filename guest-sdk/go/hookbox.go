// Package hookbox writes hooks for hookbox: functions that allow, block, ask
// about or rewrite what an agent is about to do.
//
// A hook is a program with one function:
//
//	package main
//
//	import hookbox "hookbox.dev/guest"
//
//	func init() { hookbox.Handle(guard) }
//
//	func main() {}
//
//	func guard(event hookbox.Event) (hookbox.Decision, error) {
//		if event.Subject == "deploy" {
//			return hookbox.Block("not on a Friday"), nil
//		}
//		return hookbox.Allow(), nil
//	}
//
// `hookbox build` turns it into a component. Every event gets a fresh instance,
// so package variables never carry anything from one event to the next; what
// must survive goes into [Cache].
//
// Initialisers and init functions run once, when the hook is built, and what
// they computed is part of the component: compile regular expressions there. No
// event exists at that time, so nothing of this package but [Handle] may be
// called there.
//
// A hook sees its event and nothing else. [Log], [Metrics], [Events], [Clock],
// [Random] and a [Cache] of its own need no grant; a hook that uses [HTTP],
// [Tools], [Env], [Files] or [Hooks] does not load without one.
//
// Outside of WebAssembly the same functions work on stand-ins in memory, so
// that hooks can be tested with go test; see the package hookboxtest.
package hookbox

// Handler decides about one event. An error means that the hook could not
// decide; on an event that gates an action, the action is then blocked.
type Handler func(event Event) (Decision, error)

var handler Handler

// Handle says which function decides. It is called once, from an init function.
func Handle(decide Handler) {
	if decide == nil {
		panic("hookbox.Handle was given no function")
	}
	if handler != nil {
		panic("hookbox.Handle was called twice; a hook has one handler")
	}
	handler = decide
}
