package hookbox

import (
	"errors"
	"time"
)

// Cache is a store of JSON values that outlives the call. Without a grant it is
// the hook's own and ends with the run.
var Cache CacheStore

// CacheStore keeps values; [Cache] is the one there is.
type CacheStore struct{}

type absent struct{}

// Absent is what CompareAndSet is given to expect that there is no value.
var Absent any = absent{}

// Get stores the value of a key in what into points to, by the rules of
// json.Unmarshal, and says whether there was one.
func (CacheStore) Get(key string, into any) (bool, error) {
	text, found, err := hostCacheGet(key)
	if err != nil || !found {
		return false, err
	}
	if err := decode(text, into); err != nil {
		return true, errors.New("the cached value of " + key + ": " + err.Error())
	}
	return true, nil
}

// Set stores a value for some time, or for good if ttl is 0.
func (CacheStore) Set(key string, value any, ttl time.Duration) error {
	text, err := encodeFor(key, value)
	if err != nil {
		return err
	}
	return hostCacheSet(key, text, milliseconds(ttl))
}

// Has says whether there is a value.
func (CacheStore) Has(key string) (bool, error) {
	return hostCacheHas(key)
}

// Delete removes a value and says whether there was one.
func (CacheStore) Delete(key string) (bool, error) {
	return hostCacheDelete(key)
}

// Increment adds to an integer, which starts at 0, in one step, and returns the
// sum. A ttl other than 0 counts from the first addition.
func (CacheStore) Increment(key string, by int64, ttl time.Duration) (int64, error) {
	return hostCacheIncrement(key, by, milliseconds(ttl))
}

// CompareAndSet stores a value in one step if the stored one is what is
// expected, and says whether it did. It can be given Absent to expect.
func (CacheStore) CompareAndSet(key string, expected, value any, ttl time.Duration) (bool, error) {
	var old *string
	if expected != Absent {
		text, err := encodeFor(key, expected)
		if err != nil {
			return false, err
		}
		old = &text
	}
	text, err := encodeFor(key, value)
	if err != nil {
		return false, err
	}
	return hostCacheCompareAndSet(key, old, text, milliseconds(ttl))
}

func encodeFor(key string, value any) (string, error) {
	text, err := encode(value)
	if err != nil {
		return "", errors.New("the value for " + key + " cannot be written as JSON: " + err.Error())
	}
	return text, nil
}

// milliseconds rounds up, and a time that is over already becomes the shortest
// one: 0 would mean for good.
func milliseconds(ttl time.Duration) uint64 {
	whole := ttl / time.Millisecond
	switch {
	case ttl == 0:
		return 0
	case ttl < 0:
		return 1
	case ttl%time.Millisecond != 0:
		whole++
	}
	return uint64(whole)
}
