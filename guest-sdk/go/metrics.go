package hookbox

import (
	"math"
	"strconv"
)

// Metrics are counters and gauges, shared by all hooks of a run.
var Metrics MetricSet

// MetricSet holds counters and gauges; [Metrics] is the one there is.
type MetricSet struct{}

// Metric is a name with its value.
type Metric struct {
	Name  string
	Value Number
}

// Number is the value of a metric: an integer, or a real number.
type Number struct {
	integer int64
	real    float64
	isReal  bool
}

// Incr adds to a counter, which starts at 0, and returns its new value.
func (MetricSet) Incr(name string, by int64) Number {
	return hostMetricsIncr(name, by)
}

// Set sets a gauge to an integer.
func (MetricSet) Set(name string, value int64) {
	hostMetricsSet(name, Number{integer: value})
}

// SetFloat sets a gauge to a real number.
func (MetricSet) SetFloat(name string, value float64) {
	hostMetricsSet(name, Number{real: value, isReal: true})
}

// Get returns one value, and whether there is one.
func (MetricSet) Get(name string) (Number, bool) {
	return hostMetricsGet(name)
}

// Snapshot returns all values, sorted by name.
func (MetricSet) Snapshot() []Metric {
	return hostMetricsSnapshot()
}

// IsInteger says whether the value is an integer.
func (n Number) IsInteger() bool {
	return !n.isReal
}

// Int returns the value as an integer; a real number loses what is behind its point.
func (n Number) Int() int64 {
	if n.isReal {
		return int64(n.real)
	}
	return n.integer
}

// Float returns the value as a real number.
func (n Number) Float() float64 {
	if n.isReal {
		return n.real
	}
	return float64(n.integer)
}

// String returns the value as text.
func (n Number) String() string {
	if n.isReal {
		return strconv.FormatFloat(n.real, 'g', -1, 64)
	}
	return strconv.FormatInt(n.integer, 10)
}

// MarshalJSON writes the value as a JSON number, and what JSON has no number for
// as null.
func (n Number) MarshalJSON() ([]byte, error) {
	if n.isReal {
		if math.IsNaN(n.real) || math.IsInf(n.real, 0) {
			return []byte("null"), nil
		}
		return writeFloat(nil, n.real, 64)
	}
	return strconv.AppendInt(nil, n.integer, 10), nil
}
