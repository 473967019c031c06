package hookbox

// Where the canonical ABI puts what, in bytes from the start. Texts and lists
// are an address and a length, four bytes each. layout_test.go computes every one
// of these from the types of the contract.
const (
	// result<answer, failure>, which a hook returns.
	answerKind      = 4
	answerText      = 8
	answerEffects   = 16
	failureMessage  = 4
	failureHasStack = 12
	failureStack    = 16
	answerSize      = 24

	// variant effect.
	effectContextText      = 4
	effectContextPlacement = 12
	effectBody             = 4
	effectTags             = 12
	effectHasKey           = 20
	effectKey              = 24
	effectHasTTL           = 32
	effectTTL              = 36
	effectPreserve         = 40
	effectPropagate        = 41
	effectRole             = 42
	effectSize             = 44

	// variant number, and option and tuple around it.
	numberValue       = 8
	optionNumberKind  = 8
	optionNumberValue = 16
	metricNumberKind  = 8
	metricNumberValue = 16
	metricSize        = 24

	// result<_, error>, whatever is in it, unless it holds 64 bits.
	errorKind       = 4
	errorText       = 8
	okText          = 4
	okFlag          = 4
	okOptionalText  = 8
	wideErrorKind   = 8
	wideErrorText   = 12
	wideOK          = 8
	responseStatus  = 4
	responseHeaders = 8
	responseBody    = 16
	responseURL     = 24

	// list<string> and list<tuple<string, string>>.
	textSize    = 8
	headerValue = 8
	headerSize  = 16

	// record hook.
	hookEvent    = 8
	hookPriority = 16
	hookExplicit = 24
	hookHasWhen  = 28
	hookWhen     = 32
	hookHandler  = 40
	hookFile     = 48
	hookSize     = 56
)

// resultBytes is what the largest result takes.
const resultBytes = 32
