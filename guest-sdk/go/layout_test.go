package hookbox

import "testing"

// shape is a type of the component model, as far as memory is concerned.
type shape struct {
	size, align uint32
	fields      []uint32 // where the fields of a record are
	payload     uint32   // where the payload of a variant is
}

func number(bytes uint32) shape { return shape{size: bytes, align: bytes} }

func record(fields ...shape) shape {
	all := shape{align: 1}
	for _, field := range fields {
		all.size = roundUp(all.size, field.align)
		all.fields = append(all.fields, all.size)
		all.size += field.size
		all.align = max(all.align, field.align)
	}
	all.size = roundUp(all.size, all.align)
	return all
}

// variant has fewer than 256 cases, like all of the contract's, so the case is a
// byte. A case without a payload is left out.
func variant(cases ...shape) shape {
	all := shape{align: 1}
	var most uint32
	for _, one := range cases {
		all.align = max(all.align, one.align)
		most = max(most, one.size)
	}
	all.payload = roundUp(1, all.align)
	all.size = roundUp(all.payload+most, all.align)
	return all
}

func roundUp(size, align uint32) uint32 { return (size + align - 1) / align * align }

func TestLayoutsAreThoseOfTheCanonicalABI(t *testing.T) {
	flag, word, long := number(1), number(4), number(8)
	text := record(word, word)
	list := text
	option := func(some shape) shape { return variant(some) }

	// In the order of wit/hook.wit.
	decision := variant(text, text, text)
	context := record(text, flag)
	reminder := record(text, list, option(text), option(word), flag, flag, flag)
	effect := variant(context, reminder)
	answer := record(decision, list)
	failure := record(text, option(text))
	handled := variant(answer, failure)
	metric := variant(long, long)
	problem := variant(text)
	response := record(number(2), list, list, text)
	header := record(text, text)
	hook := record(text, text, long, flag, option(text), text, text)
	pair := record(text, metric)

	narrow := variant(text, problem)
	wide := variant(long, problem)
	optional := variant(option(text), problem)
	sent := variant(response, problem)

	for name, at := range map[string][2]uint32{
		"answer":                 {answerSize, handled.size},
		"answer.decision":        {answerKind, handled.payload + answer.fields[0]},
		"answer.decision.text":   {answerText, handled.payload + answer.fields[0] + decision.payload},
		"answer.effects":         {answerEffects, handled.payload + answer.fields[1]},
		"failure.message":        {failureMessage, handled.payload + failure.fields[0]},
		"failure.stack":          {failureHasStack, handled.payload + failure.fields[1]},
		"failure.stack.some":     {failureStack, handled.payload + failure.fields[1] + option(text).payload},
		"effect":                 {effectSize, effect.size},
		"context.text":           {effectContextText, effect.payload + context.fields[0]},
		"context.placement":      {effectContextPlacement, effect.payload + context.fields[1]},
		"reminder.body":          {effectBody, effect.payload + reminder.fields[0]},
		"reminder.tags":          {effectTags, effect.payload + reminder.fields[1]},
		"reminder.dedupe-key":    {effectHasKey, effect.payload + reminder.fields[2]},
		"reminder.key.some":      {effectKey, effect.payload + reminder.fields[2] + option(text).payload},
		"reminder.ttl-turns":     {effectHasTTL, effect.payload + reminder.fields[3]},
		"reminder.ttl.some":      {effectTTL, effect.payload + reminder.fields[3] + option(word).payload},
		"reminder.preserve":      {effectPreserve, effect.payload + reminder.fields[4]},
		"reminder.propagate":     {effectPropagate, effect.payload + reminder.fields[5]},
		"reminder.role-hint":     {effectRole, effect.payload + reminder.fields[6]},
		"number":                 {numberValue, metric.payload},
		"option<number>":         {optionNumberKind, option(metric).payload},
		"option<number>.value":   {optionNumberValue, option(metric).payload + metric.payload},
		"snapshot":               {metricSize, pair.size},
		"snapshot.number":        {metricNumberKind, pair.fields[1]},
		"snapshot.number.value":  {metricNumberValue, pair.fields[1] + metric.payload},
		"result.error":           {errorKind, narrow.payload},
		"result.error.text":      {errorText, narrow.payload + problem.payload},
		"result.ok":              {okText, narrow.payload},
		"result.flag":            {okFlag, variant(flag, problem).payload},
		"result.option":          {okFlag, optional.payload},
		"result.option.some":     {okOptionalText, optional.payload + option(text).payload},
		"result.option.error":    {errorText, optional.payload + problem.payload},
		"result<s64>":            {wideOK, wide.payload},
		"result<s64>.error":      {wideErrorKind, wide.payload},
		"result<s64>.error.text": {wideErrorText, wide.payload + problem.payload},
		"response.status":        {responseStatus, sent.payload + response.fields[0]},
		"response.headers":       {responseHeaders, sent.payload + response.fields[1]},
		"response.body":          {responseBody, sent.payload + response.fields[2]},
		"response.url":           {responseURL, sent.payload + response.fields[3]},
		"list<string>":           {textSize, text.size},
		"header":                 {headerSize, header.size},
		"header.value":           {headerValue, header.fields[1]},
		"hook":                   {hookSize, hook.size},
		"hook.event":             {hookEvent, hook.fields[1]},
		"hook.priority":          {hookPriority, hook.fields[2]},
		"hook.explicit-priority": {hookExplicit, hook.fields[3]},
		"hook.when":              {hookHasWhen, hook.fields[4]},
		"hook.when.some":         {hookWhen, hook.fields[4] + option(text).payload},
		"hook.handler":           {hookHandler, hook.fields[5]},
		"hook.file":              {hookFile, hook.fields[6]},
	} {
		if at[0] != at[1] {
			t.Errorf("%s: the table says %d, the canonical ABI %d", name, at[0], at[1])
		}
	}
}

func TestEveryResultFitsTheAreaForResults(t *testing.T) {
	if most := uint32(responseURL + textSize); most > resultBytes {
		t.Errorf("a response takes %d bytes, the area has %d", most, resultBytes)
	}
}
