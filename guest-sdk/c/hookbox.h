/// hookbox in C: everything a hook needs.
///
/// A hook is one function:
///
///     #include "hookbox.h"
///
///     hb_decision handle(const hb_event *event) {
///         hb_str command = hb_string_at(event->payload, "args.command");
///         if (hb_contains(command, "rm -rf /"))
///             return hb_block(hb_format("not here: %S", command));
///         return hb_allow();
///     }
///
/// Three habits:
/// - A text is an `hb_str`, a pointer and a length. Wherever a function takes one,
///   a `char *` or a literal will do as well. A text whose `ptr` is NULL is none.
/// - Nothing is freed. Every call runs in a fresh instance, and its memory goes with it.
///   What you hand to the SDK to keep, it copies.
/// - A function that can fail returns false and says why in its last parameter, which
///   may be NULL.
#ifndef HOOKBOX_H
#define HOOKBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// ---- Texts ----

/// A text or other bytes; not ended by a NUL, and free to contain some.
typedef struct hb_str {
    const char *ptr;
    size_t len;
} hb_str;

/// What the functions that look for something return if there is nothing.
#define HB_NONE ((size_t)-1)

/// Makes an `hb_str` of a `char *` or an `hb_str`.
#define HB_STR(text) \
    _Generic((text), hb_str : hb_same_str, char * : hb_c_str, const char * : hb_c_str)(text)

static inline hb_str hb_same_str(hb_str text) { return text; }
static inline hb_str hb_c_str(const char *text) {
    hb_str made = {text, text ? __builtin_strlen(text) : 0};
    return made;
}

/// Returns so many bytes from a place on.
static inline hb_str hb_span(const char *ptr, size_t len) {
    hb_str made = {ptr, len};
    return made;
}

/// Says whether two texts are the same bytes.
bool hb_equal(hb_str a, hb_str b);
/// Says whether two texts are the same but for the case of ASCII letters.
bool hb_equal_nocase(hb_str a, hb_str b);
bool hb_starts_with(hb_str text, hb_str start);
bool hb_ends_with(hb_str text, hb_str end);
bool hb_contains(hb_str text, hb_str part);
/// Returns where `part` first occurs, or HB_NONE.
size_t hb_find(hb_str text, hb_str part);
/// Returns the bytes from `from` up to before `to`, as far as there are any.
hb_str hb_slice(hb_str text, size_t from, size_t to);
/// Returns the text without white space at its ends.
hb_str hb_trim(hb_str text);
/// Returns the text with its ASCII letters in lower case.
hb_str hb_lower(hb_str text);
/// Returns the start of a text: at most so many bytes, and no half characters.
hb_str hb_truncate(hb_str text, size_t most);

/// Writes a text: `%s` is a `char *`, `%S` an hb_str, `%d` an int, `%u` an unsigned, `%zu` a
/// size_t, `%x` an unsigned in hexadecimal, `%%` a percent sign. There is nothing else.
hb_str hb_format(const char *format, ...);

/// Returns memory for this call, aligned for anything. Asking for more than there is ends the call.
void *hb_alloc(size_t size);

// ---- Errors ----

/// Why something failed.
typedef struct hb_error {
    /// The contract's name for it: `not-granted`, `quota`, `timeout`, …; `invalid-json` for
    /// hb_parse.
    const char *kind;
    hb_str message;
} hb_error;

#define HB_MUST_CHECK __attribute__((warn_unused_result))

/// Ends the call: the hook failed to decide, and a gated action does not happen.
_Noreturn void hb_panic(hb_str message);

/// Ends the call unless the condition holds.
#define hb_assert(condition)                                                                      \
    ((condition) ? (void)0                                                                        \
                 : hb_panic(hb_format("assertion failed: %s (%s, line %d)", #condition, __FILE__, \
                                      __LINE__)))

// ---- JSON ----

typedef enum hb_kind { HB_NULL, HB_BOOL, HB_NUMBER, HB_STRING, HB_ARRAY, HB_OBJECT } hb_kind;

/// A JSON value. A NULL pointer stands for a value that is not there, and every
/// function that reads takes it.
typedef struct hb_json hb_json;

/// Reads JSON text, 127 levels deep at most. A lone surrogate becomes U+FFFD.
HB_MUST_CHECK bool hb_parse(hb_str text, hb_json **value, hb_error *error);
/// Writes a value as compact JSON text.
hb_str hb_write(const hb_json *value);

/// Returns what a value is; HB_NULL for one that is not there.
hb_kind hb_kind_of(const hb_json *value);
/// Returns the member of an object, or NULL. Of two with the same key the last counts.
hb_json *hb_get(const hb_json *object, hb_str key);
/// Returns the element of an array, or NULL.
hb_json *hb_item(const hb_json *array, size_t index);
/// Returns what a path like `args.files.0.path` leads to, or NULL.
hb_json *hb_at(const hb_json *value, hb_str path);
/// Returns how many elements or members there are.
size_t hb_count(const hb_json *value);
/// Returns the first element or member, or NULL.
hb_json *hb_first(const hb_json *value);
/// Returns the element or member after this one, or NULL.
hb_json *hb_next(const hb_json *value);
/// Returns the key of a member; none for anything else.
hb_str hb_key(const hb_json *member);

/// Loops over the elements of an array or the members of an object.
#define hb_each(item, container) \
    for (hb_json *item = hb_first(container); item; item = hb_next(item))

/// Returns the text of a string; none for anything else.
hb_str hb_string(const hb_json *value);
/// Does the same at the end of a path.
hb_str hb_string_at(const hb_json *value, hb_str path);
/// Says whether a value is `true`.
bool hb_is_true(const hb_json *value);
/// Reads a number that is written as an integer; false if it is none or does not fit.
bool hb_to_int(const hb_json *value, int64_t *number);
/// Reads a number as the nearest double; false if it is none.
bool hb_to_double(const hb_json *value, double *number);
/// Returns a number as it is written, with all of its digits; none for anything else.
hb_str hb_digits(const hb_json *value);

hb_json *hb_new_null(void);
hb_json *hb_new_bool(bool value);
hb_json *hb_new_int(int64_t value);
/// Makes a number that reads back as the same double; null for what JSON has no number for.
hb_json *hb_new_double(double value);
/// Makes a string. What is not UTF-8 in it becomes U+FFFD.
hb_json *hb_new_string(hb_str text);
/// Makes a value of JSON text, or panics if it is none.
hb_json *hb_new_raw(hb_str json);
hb_json *hb_new_array(void);
hb_json *hb_new_object(void);
/// Sets a member of an object. The value moves in; one that is part of something already
/// is copied. NULL is null.
void hb_set(hb_json *object, hb_str key, hb_json *value);
/// Removes a member, and says whether there was one.
bool hb_remove(hb_json *object, hb_str key);
/// Adds an element to an array, as hb_set sets a member.
void hb_push(hb_json *array, hb_json *value);

// ---- The hook ----

/// A point in the agent's loop at which the hook is asked.
typedef struct hb_event {
    /// For example `tool.pre`.
    hb_str name;
    /// What the event carries, read. It is the hook's own to change and to return.
    hb_json *payload;
    /// The same as it came.
    hb_str payload_text;
    /// Tells this event from every other one of the same run.
    hb_str id;
    /// What the event is about, for example the name of the tool; none for some events.
    hb_str subject;
    /// The name this hook is registered under.
    hb_str hook;
    /// 0 for an event of the agent; one more for each event or tool call of a hook on the way.
    uint32_t depth;
} hb_event;

/// What a hook rules. Make it with one of the functions below; a zeroed one is an error.
typedef struct hb_decision {
    uint8_t ruling;
    hb_str text;
} hb_decision;

/// The hook: you write this one.
hb_decision handle(const hb_event *event);

/// Lets it pass.
hb_decision hb_allow(void);
/// Refuses it. The agent reads the reason.
hb_decision hb_block(hb_str reason);
/// Lets it pass with another payload. An object is laid over the current one key by key.
hb_decision hb_modify(const hb_json *payload);
/// Lets a person decide.
hb_decision hb_ask(hb_str question);
/// Says that the hook could not decide. On an event that gates an action this blocks it.
hb_decision hb_fail(hb_str message);
/// Says the same of an error: `kind: message`.
hb_decision hb_fail_with(hb_error error);

typedef enum hb_placement {
    HB_SYSTEM_REMINDER,
    HB_SYSTEM_MESSAGE,
    HB_PREPEND_TO_PROMPT,
    HB_APPEND_TO_OUTPUT
} hb_placement;
typedef enum hb_propagation { HB_SESSION, HB_ALL, HB_NOWHERE } hb_propagation;
typedef enum hb_role_hint {
    HB_SYSTEM,
    HB_DEVELOPER,
    HB_USER_BLOCK,
    HB_EPHEMERAL_CACHE
} hb_role_hint;

/// A text for the model that stays for some turns. What is left out has its usual value.
typedef struct hb_reminder_options {
    const hb_str *tags;
    size_t tag_count;
    /// A newer reminder with the same key takes the older one's place.
    hb_str dedupe_key;
    /// For how many turns it stays; 0 is until the end.
    uint32_t ttl_turns;
    bool preserve_on_compact;
    hb_propagation propagate;
    hb_role_hint role_hint;
} hb_reminder_options;

/// Hands the model a text, as a system reminder. Goes out with the decision, like the three below.
void hb_context(hb_str text);
/// Hands the model a text at another place.
void hb_context_at(hb_str text, hb_placement placement);
/// Hands the model a text that stays.
void hb_reminder(hb_str body);
/// Hands the model a text that stays as the options say.
void hb_reminder_with(hb_str body, hb_reminder_options options);

// ---- What every hook may use ----

void hb_log_debug(hb_str message);
void hb_log_info(hb_str message);
void hb_log_warn(hb_str message);
void hb_log_error(hb_str message);

/// The value of a counter or gauge.
typedef struct hb_number {
    bool is_real;
    union {
        int64_t integer;
        double real;
    };
} hb_number;

/// A counter or gauge.
typedef struct hb_metric {
    hb_str name;
    hb_number value;
} hb_metric;

/// Adds to a counter, which starts at 0, and returns its new value.
hb_number hb_metrics_incr(hb_str name, int64_t by);
/// Sets a gauge.
void hb_metrics_set(hb_str name, double value);
/// Sets a gauge to a whole number.
void hb_metrics_set_int(hb_str name, int64_t value);
/// Reads a metric; false if there is none.
bool hb_metrics_get(hb_str name, hb_number *value);
/// Returns all metrics, sorted by name.
const hb_metric *hb_metrics_snapshot(size_t *count);
/// Makes a JSON number of a metric's value.
hb_json *hb_new_number(hb_number value);

/// Reads a value; `*value` is NULL if there is none.
HB_MUST_CHECK bool hb_cache_get(hb_str key, hb_json **value, hb_error *error);
/// Stores a value for so many milliseconds; 0 is for as long as the cache lives.
HB_MUST_CHECK bool hb_cache_set(hb_str key, const hb_json *value, uint64_t ttl_ms, hb_error *error);
HB_MUST_CHECK bool hb_cache_has(hb_str key, bool *has, hb_error *error);
/// Removes a value and says whether there was one.
HB_MUST_CHECK bool hb_cache_delete(hb_str key, bool *deleted, hb_error *error);
/// Adds to an integer, which starts at 0, in one step.
HB_MUST_CHECK bool hb_cache_increment(hb_str key, int64_t by, uint64_t ttl_ms, int64_t *sum,
                                      hb_error *error);
/// Stores `value` in one step if the stored value is `expected`, where NULL means none.
HB_MUST_CHECK bool hb_cache_compare_and_set(hb_str key, const hb_json *expected,
                                            const hb_json *value, uint64_t ttl_ms, bool *stored,
                                            hb_error *error);

/// Sends a `custom.*` event through its own chain. `*result` is the payload that comes out.
HB_MUST_CHECK bool hb_emit(hb_str name, const hb_json *payload, hb_json **result, hb_error *error);

/// Returns the milliseconds since the start of 1970.
uint64_t hb_clock_now(void);
/// Fills a buffer with random bytes, 65,536 at most.
void hb_random_bytes(void *buffer, size_t count);

// ---- What has to be granted in the hook file ----

typedef struct hb_header {
    hb_str name, value;
} hb_header;

typedef struct hb_request {
    hb_str method, url;
    const hb_header *headers;
    size_t header_count;
    /// None sends no body.
    hb_str body;
    /// 0 leaves it to the grant.
    uint32_t timeout_ms;
} hb_request;

typedef struct hb_response {
    uint16_t status;
    const hb_header *headers;
    size_t header_count;
    hb_str body;
    /// Where the answer came from, after redirects.
    hb_str url;
} hb_response;

/// `grant: http: [...]`
HB_MUST_CHECK bool hb_http_send(const hb_request *request, hb_response *response, hb_error *error);
HB_MUST_CHECK bool hb_http_get(hb_str url, hb_response *response, hb_error *error);
HB_MUST_CHECK bool hb_http_post(hb_str url, hb_str body, hb_response *response, hb_error *error);
/// Returns the first header of this name in any case; none if there is none.
hb_str hb_response_header(const hb_response *response, hb_str name);

/// `grant: tools: [...]`
HB_MUST_CHECK bool hb_tools_call(hb_str name, const hb_json *args, hb_json **result,
                                 hb_error *error);

/// `grant: env: [...]`; `*value` is none if the variable is not set.
HB_MUST_CHECK bool hb_env_get(hb_str name, hb_str *value, hb_error *error);

/// `grant: read: [...]`
HB_MUST_CHECK bool hb_files_read(hb_str path, hb_str *bytes, hb_error *error);
/// Returns the names in a directory, sorted; those of directories end in `/`.
HB_MUST_CHECK bool hb_files_list(hb_str path, const hb_str **names, size_t *count, hb_error *error);

typedef struct hb_hook {
    hb_str name, event;
    int64_t priority;
    bool explicit_priority;
    /// None if the hook has no `when`.
    hb_str when;
    hb_str handler, file;
} hb_hook;

/// `grant: hooks: read`
HB_MUST_CHECK bool hb_hooks_list(const hb_hook **hooks, size_t *count, hb_error *error);
/// Returns the text of the file a hook is written in; none if there is no such hook.
HB_MUST_CHECK bool hb_hooks_source(hb_str name, hb_str *source, hb_error *error);

// ---- Literals wherever a text is taken ----

#define hb_equal(a, b) hb_equal(HB_STR(a), HB_STR(b))
#define hb_equal_nocase(a, b) hb_equal_nocase(HB_STR(a), HB_STR(b))
#define hb_starts_with(text, start) hb_starts_with(HB_STR(text), HB_STR(start))
#define hb_ends_with(text, end) hb_ends_with(HB_STR(text), HB_STR(end))
#define hb_contains(text, part) hb_contains(HB_STR(text), HB_STR(part))
#define hb_find(text, part) hb_find(HB_STR(text), HB_STR(part))
#define hb_slice(text, from, to) hb_slice(HB_STR(text), from, to)
#define hb_trim(text) hb_trim(HB_STR(text))
#define hb_lower(text) hb_lower(HB_STR(text))
#define hb_truncate(text, most) hb_truncate(HB_STR(text), most)
#define hb_panic(message) hb_panic(HB_STR(message))
#define hb_parse(text, value, error) hb_parse(HB_STR(text), value, error)
#define hb_get(object, key) hb_get(object, HB_STR(key))
#define hb_at(value, path) hb_at(value, HB_STR(path))
#define hb_string_at(value, path) hb_string_at(value, HB_STR(path))
#define hb_new_string(text) hb_new_string(HB_STR(text))
#define hb_new_raw(json) hb_new_raw(HB_STR(json))
#define hb_set(object, key, value) hb_set(object, HB_STR(key), value)
#define hb_remove(object, key) hb_remove(object, HB_STR(key))
#define hb_block(reason) hb_block(HB_STR(reason))
#define hb_ask(question) hb_ask(HB_STR(question))
#define hb_fail(message) hb_fail(HB_STR(message))
#define hb_context(text) hb_context(HB_STR(text))
#define hb_context_at(text, placement) hb_context_at(HB_STR(text), placement)
#define hb_reminder(body) hb_reminder(HB_STR(body))
#define hb_reminder_with(body, ...) hb_reminder_with(HB_STR(body), __VA_ARGS__)
#define hb_log_debug(message) hb_log_debug(HB_STR(message))
#define hb_log_info(message) hb_log_info(HB_STR(message))
#define hb_log_warn(message) hb_log_warn(HB_STR(message))
#define hb_log_error(message) hb_log_error(HB_STR(message))
#define hb_metrics_incr(name, by) hb_metrics_incr(HB_STR(name), by)
#define hb_metrics_set(name, value) hb_metrics_set(HB_STR(name), value)
#define hb_metrics_set_int(name, value) hb_metrics_set_int(HB_STR(name), value)
#define hb_metrics_get(name, value) hb_metrics_get(HB_STR(name), value)
#define hb_cache_get(key, value, error) hb_cache_get(HB_STR(key), value, error)
#define hb_cache_set(key, value, ttl_ms, error) hb_cache_set(HB_STR(key), value, ttl_ms, error)
#define hb_cache_has(key, has, error) hb_cache_has(HB_STR(key), has, error)
#define hb_cache_delete(key, deleted, error) hb_cache_delete(HB_STR(key), deleted, error)
#define hb_cache_increment(key, by, ttl_ms, sum, error) \
    hb_cache_increment(HB_STR(key), by, ttl_ms, sum, error)
#define hb_cache_compare_and_set(key, expected, value, ttl_ms, stored, error) \
    hb_cache_compare_and_set(HB_STR(key), expected, value, ttl_ms, stored, error)
#define hb_emit(name, payload, result, error) hb_emit(HB_STR(name), payload, result, error)
#define hb_http_get(url, response, error) hb_http_get(HB_STR(url), response, error)
#define hb_http_post(url, body, response, error) \
    hb_http_post(HB_STR(url), HB_STR(body), response, error)
#define hb_response_header(response, name) hb_response_header(response, HB_STR(name))
#define hb_tools_call(name, args, result, error) hb_tools_call(HB_STR(name), args, result, error)
#define hb_env_get(name, value, error) hb_env_get(HB_STR(name), value, error)
#define hb_files_read(path, bytes, error) hb_files_read(HB_STR(path), bytes, error)
#define hb_files_list(path, names, count, error) hb_files_list(HB_STR(path), names, count, error)
#define hb_hooks_source(name, source, error) hb_hooks_source(HB_STR(name), source, error)

#endif
