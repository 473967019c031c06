package hookbox

import "runtime/debug"

// The host asks for memory while the component must not call it, and a collection
// begins with a look at the clock, which is such a call. So there is none: an instance
// lives for one event, and the limit on its memory is the net.
func init() {
	debug.SetGCPercent(-1)
}
