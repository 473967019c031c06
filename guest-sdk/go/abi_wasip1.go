package hookbox

import "unsafe"

// This file is the border: what the contract calls a string is here an address
// and a length. Nothing else in this package knows of addresses.

//go:wasmimport hookbox:hook/log@1.1.0 write
func importLogWrite(level uint32, message string)

//go:wasmimport hookbox:hook/metrics@1.1.0 incr
func importMetricsIncr(name string, by int64, result unsafe.Pointer)

//go:wasmimport hookbox:hook/metrics@1.1.0 set
func importMetricsSet(name string, kind uint32, bits uint64)

//go:wasmimport hookbox:hook/metrics@1.1.0 get
func importMetricsGet(name string, result unsafe.Pointer)

//go:wasmimport hookbox:hook/metrics@1.1.0 snapshot
func importMetricsSnapshot(result unsafe.Pointer)

//go:wasmimport hookbox:hook/cache@1.1.0 get
func importCacheGet(key string, result unsafe.Pointer)

//go:wasmimport hookbox:hook/cache@1.1.0 set
func importCacheSet(key, value string, hasTTL uint32, ttl uint64, result unsafe.Pointer)

//go:wasmimport hookbox:hook/cache@1.1.0 has
func importCacheHas(key string, result unsafe.Pointer)

//go:wasmimport hookbox:hook/cache@1.1.0 delete
func importCacheDelete(key string, result unsafe.Pointer)

//go:wasmimport hookbox:hook/cache@1.1.0 increment
func importCacheIncrement(key string, by int64, hasTTL uint32, ttl uint64, result unsafe.Pointer)

//go:wasmimport hookbox:hook/cache@1.1.0 compare-and-set
func importCacheCompareAndSet(key string, hasOld uint32, old, value string, hasTTL uint32, ttl uint64, result unsafe.Pointer)

//go:wasmimport hookbox:hook/http@1.1.0 send
func importHTTPSend(method, url string, headers unsafe.Pointer, headerCount uint32, hasBody uint32, body unsafe.Pointer, bodyLength uint32, hasTimeout, timeout uint32, result unsafe.Pointer)

//go:wasmimport hookbox:hook/events@1.1.0 emit
func importEmit(name, payload string, result unsafe.Pointer)

//go:wasmimport hookbox:hook/tools@1.1.0 call
func importToolCall(name, args string, result unsafe.Pointer)

//go:wasmimport hookbox:hook/environment@1.1.0 get
func importEnvGet(name string, result unsafe.Pointer)

//go:wasmimport hookbox:hook/files@1.1.0 read
func importFileRead(path string, result unsafe.Pointer)

//go:wasmimport hookbox:hook/files@1.1.0 entries
func importFileEntries(path string, result unsafe.Pointer)

//go:wasmimport hookbox:hook/hooks@1.1.0 all
func importHooksAll(result unsafe.Pointer)

//go:wasmimport hookbox:hook/hooks@1.1.0 source
func importHooksSource(name string, result unsafe.Pointer)

//go:wasmimport hookbox:hook/clock@1.1.0 now
func importClockNow() uint64

//go:wasmimport hookbox:hook/random@1.1.0 bytes
func importRandomBytes(count uint32, result unsafe.Pointer)

// kept holds what the host has the address of until the call ends: the event and
// the answer. An address that is only a number is nothing to the garbage collector,
// and what is stored here cannot be on a stack, which may move.
var kept = make([]unsafe.Pointer, 0, 64)

// lent is where the memory is noted that the host asks for: that of the event at
// first, and later that of the import which runs.
var lent = &kept

// realloc is how the host asks for memory, for what it hands over.
//
//go:wasmexport cabi_realloc
func realloc(old unsafe.Pointer, oldSize, align, size uint32) unsafe.Pointer {
	// A collection, should there be one, can let another goroutine run, which may
	// call an import.
	to := lent
	fresh := memory(size)
	*to = append(*to, fresh)
	copy(unsafe.Slice((*byte)(fresh), size), unsafe.Slice((*byte)(old), oldSize))
	return fresh
}

// allocate returns memory that stays until the call ends.
func allocate(size uint32) unsafe.Pointer {
	fresh := memory(size)
	kept = append(kept, fresh)
	return fresh
}

// memory returns memory that is aligned for everything in the contract.
func memory(size uint32) unsafe.Pointer {
	return unsafe.Pointer(unsafe.SliceData(make([]uint64, max(1, (uint64(size)+7)/8))))
}

// result returns room for what an import returns. What that refers to lives as
// long as the room does. It is called right before the import.
func result() area {
	room := new(struct {
		returned [resultBytes / 8]uint64
		lent     []unsafe.Pointer
	})
	lent = &room.lent
	return area{unsafe.Pointer(&room.returned)}
}

// handle is the export of the contract.
//
//go:wasmexport hookbox:hook/handler@1.1.0#handle
func handle(name unsafe.Pointer, nameLength uint32, payload unsafe.Pointer, payloadLength uint32, id unsafe.Pointer, idLength uint32,
	hasSubject uint32, subject unsafe.Pointer, subjectLength uint32, hook unsafe.Pointer, hookLength, depth uint32) unsafe.Pointer {
	event := Event{
		Name:  text(name, nameLength),
		ID:    text(id, idLength),
		Hook:  text(hook, hookLength),
		Depth: depth,
	}
	if hasSubject != 0 {
		event.Subject = text(subject, subjectLength)
	}
	decision, failed := decide(event, text(payload, payloadLength))
	out := area{allocate(answerSize)}
	if failed != nil {
		out.setByte(0, 1)
		out.setText(failureMessage, failed.message)
		out.setOption(failureHasStack, failureStack, failed.stack)
		return out.at
	}
	out.setByte(answerKind, byte(decision.kind-allowed))
	out.setText(answerText, decision.text)
	out.setList(answerEffects, lowerEffects(queued), len(queued))
	return out.at
}

func lowerEffects(effects []effect) area {
	all := area{allocate(uint32(len(effects)) * effectSize)}
	for index, effect := range effects {
		out := all.from(uint32(index) * effectSize)
		if effect.reminder == nil {
			out.setText(effectContextText, effect.text)
			out.setByte(effectContextPlacement, position(placements, effect.placement))
			continue
		}
		lowerReminder(out, effect.reminder)
	}
	return all
}

func lowerReminder(out area, reminder *Reminder) {
	tags := area{allocate(uint32(len(reminder.Tags)) * textSize)}
	for index, tag := range reminder.Tags {
		tags.setText(uint32(index)*textSize, tag)
	}
	out.setByte(0, 1)
	out.setText(effectBody, reminder.Body)
	out.setList(effectTags, tags, len(reminder.Tags))
	out.setOption(effectHasKey, effectKey, reminder.DedupeKey)
	out.setByte(effectHasTTL, flag(reminder.TTLTurns != 0))
	out.setWord(effectTTL, reminder.TTLTurns)
	out.setByte(effectPreserve, flag(reminder.PreserveOnCompact))
	out.setByte(effectPropagate, position(propagations, reminder.Propagate))
	out.setByte(effectRole, position(roleHints, reminder.RoleHint))
}

// area is memory that both sides look at.
type area struct{ at unsafe.Pointer }

func (a area) from(offset uint32) area       { return area{unsafe.Add(a.at, offset)} }
func (a area) byteAt(offset uint32) byte     { return *(*byte)(a.from(offset).at) }
func (a area) wordAt(offset uint32) uint32   { return *(*uint32)(a.from(offset).at) }
func (a area) longAt(offset uint32) uint64   { return *(*uint64)(a.from(offset).at) }
func (a area) setByte(offset uint32, b byte) { *(*byte)(a.from(offset).at) = b }
func (a area) setWord(offset, word uint32)   { *(*uint32)(a.from(offset).at) = word }

// listAt returns where a list is, and how many items it has.
func (a area) listAt(offset uint32) (area, uint32) {
	return area{unsafe.Add(unsafe.Pointer(nil), a.wordAt(offset))}, a.wordAt(offset + 4)
}

func (a area) textAt(offset uint32) string {
	list, length := a.listAt(offset)
	return text(list.at, length)
}

func (a area) bytesAt(offset uint32) []byte {
	list, length := a.listAt(offset)
	return unsafe.Slice((*byte)(list.at), length)
}

func (a area) setText(offset uint32, text string) {
	start := unsafe.Pointer(unsafe.StringData(text))
	kept = append(kept, start)
	a.setWord(offset, address(start))
	a.setWord(offset+4, uint32(len(text)))
}

// setOption sets an option<string>; an empty text is none.
func (a area) setOption(hasText, at uint32, text string) {
	a.setByte(hasText, flag(text != ""))
	a.setText(at, text)
}

func (a area) setList(offset uint32, items area, count int) {
	a.setWord(offset, address(items.at))
	a.setWord(offset+4, uint32(count))
}

func text(start unsafe.Pointer, length uint32) string {
	return unsafe.String((*byte)(start), length)
}

func address(start unsafe.Pointer) uint32 { return uint32(uintptr(start)) }

func flag(set bool) byte {
	if set {
		return 1
	}
	return 0
}
