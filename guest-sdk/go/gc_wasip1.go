package hookbox

import "runtime/debug"

// There is no collection unless a hook asks for one: an instance lives for one event, and
// the limit on its memory is the net. One that began while the host hands something over
// could let a goroutine run that calls the host, which is not allowed then.
func init() {
	debug.SetGCPercent(-1)
}
