package hookbox

// sample has one of everything that payloads are made of.
const sample = `{"id":"event-1","name":"run_command","args":{"command":"ls \"a\" é","list":[1,2.5,true,null]},"arguments":"{}"}`

// Where things go that must be on the heap.
var (
	someBytes    []byte
	somePointers []*byte
)

// warmUp runs when the hook is built, after all initialisers, and does what every
// call does. What Go sets up at the first use is then part of the component, and
// no call pays for it. The hook's own handler does not run: there is no event.
//
//go:wasmexport hookbox_warm_up
func warmUp() {
	own := handler
	handler = func(event Event) (Decision, error) {
		var call struct {
			Args struct {
				Command string `json:"command"`
			} `json:"args"`
		}
		if err := event.Bind(&call); err != nil {
			return Decision{}, err
		}
		return Modify(event.Payload), nil
	}
	for range 2 {
		if _, failed := decide(Event{Name: "tool.pre"}, sample); failed != nil {
			panic(failed.message)
		}
	}
	handler = own
	openBlocks()
	kept = kept[:0]
}

// openBlocks allocates things of all small sizes: Go takes those of about the same
// size from one block, and opening a block takes longer than all that follows.
func openBlocks() {
	const largest = 2048
	for size := 8; size <= largest; size += 8 {
		someBytes = make([]byte, size)
		somePointers = make([]*byte, size/8)
	}
}
