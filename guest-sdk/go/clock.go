package hookbox

import "time"

// Clock tells the time. Without a grant it is the event's own, so that a hook
// decides the same on every run.
var Clock TimeSource

// TimeSource tells the time; [Clock] is the one there is.
type TimeSource struct{}

// Now returns the time, to the millisecond.
func (TimeSource) Now() time.Time {
	return time.UnixMilli(int64(hostClockNow())).UTC()
}
