package hookbox

// Random gives random bytes. Without a grant they follow from the event. Prefer
// it to math/rand, whose numbers are drawn when the hook is built.
var Random RandomSource

// RandomSource gives random bytes; [Random] is the one there is.
type RandomSource struct{}

// mostRandomBytes is what the contract lets a hook ask for at once.
const mostRandomBytes = 65_536

// Bytes returns so many bytes.
func (RandomSource) Bytes(count int) []byte {
	bytes := make([]byte, 0, count)
	for len(bytes) < count {
		bytes = append(bytes, hostRandomBytes(uint32(min(count-len(bytes), mostRandomBytes)))...)
	}
	return bytes
}
