/// What every hook may call: log, metrics, cache, events, clock and random.
#include "bindings.h"
#include "internal.h"

// ---- log ----

static void log_at(int32_t level, hb_str message) {
    message = hb_utf8(message);
    hbw_log_write(level, message.ptr, message.len);
}

void(hb_log_debug)(hb_str message) { log_at(HBW_LOG_LEVEL_DEBUG, message); }
void(hb_log_info)(hb_str message) { log_at(HBW_LOG_LEVEL_INFO, message); }
void(hb_log_warn)(hb_str message) { log_at(HBW_LOG_LEVEL_WARN, message); }
void(hb_log_error)(hb_str message) { log_at(HBW_LOG_LEVEL_ERROR, message); }

// ---- metrics ----

// The public types lie in memory as those of the contract do.
_Static_assert(sizeof(hb_number) == sizeof(hbw_metrics_number), "number");
_Static_assert(offsetof(hb_number, integer) == offsetof(hbw_metrics_number, integer), "number");
_Static_assert(sizeof(hb_metric) == sizeof(hbw_tuple_string_metrics_number), "metric");

static hb_number number_of(const hbw_metrics_number *number) {
    hb_number made = {.is_real = number->tag == HBW_METRICS_NUMBER_REAL};
    made.integer = number->integer;  // or the same bits as a double
    return made;
}

hb_number(hb_metrics_incr)(hb_str name, int64_t by) {
    hbw_metrics_number result;
    hbw_metrics_incr(name.ptr, name.len, by, &result);
    return number_of(&result);
}

void(hb_metrics_set)(hb_str name, double value) {
    int64_t bits;
    memcpy(&bits, &value, sizeof bits);
    hbw_metrics_set(name.ptr, name.len, HBW_METRICS_NUMBER_REAL, bits);
}

void(hb_metrics_set_int)(hb_str name, int64_t value) {
    hbw_metrics_set(name.ptr, name.len, HBW_METRICS_NUMBER_INTEGER, value);
}

bool(hb_metrics_get)(hb_str name, hb_number *value) {
    hbw_option_metrics_number result;
    hbw_metrics_get(name.ptr, name.len, &result);
    if (result.tag) *value = number_of(&result.some);
    return result.tag;
}

const hb_metric *hb_metrics_snapshot(size_t *count) {
    hbw_list_tuple_string_metrics_number result;
    hbw_metrics_snapshot(&result);
    *count = result.len;
    return (const hb_metric *)(const void *)result.ptr;
}

// ---- cache ----

bool(hb_cache_get)(hb_str key, hb_json **value, hb_error *error) {
    hbw_result_option_string_cache_error result;
    hbw_cache_get(key.ptr, key.len, &result);
    if (result.tag) HB_FAILED(error, result.err, HBW_CACHE_ERROR_NAMES);
    *value = NULL;
    return !result.ok.tag || hb_parse(result.ok.some, value, error);
}

bool(hb_cache_set)(hb_str key, const hb_json *value, uint64_t ttl_ms, hb_error *error) {
    hbw_result_cache_error result;
    hb_str text = hb_write(value);
    hbw_cache_set(key.ptr, key.len, text.ptr, text.len, ttl_ms != 0, ttl_ms, &result);
    if (result.tag) HB_FAILED(error, result.err, HBW_CACHE_ERROR_NAMES);
    return true;
}

bool(hb_cache_has)(hb_str key, bool *has, hb_error *error) {
    hbw_result_bool_cache_error result;
    hbw_cache_has(key.ptr, key.len, &result);
    if (result.tag) HB_FAILED(error, result.err, HBW_CACHE_ERROR_NAMES);
    *has = result.ok;
    return true;
}

bool(hb_cache_delete)(hb_str key, bool *deleted, hb_error *error) {
    hbw_result_bool_cache_error result;
    hbw_cache_delete(key.ptr, key.len, &result);
    if (result.tag) HB_FAILED(error, result.err, HBW_CACHE_ERROR_NAMES);
    *deleted = result.ok;
    return true;
}

bool(hb_cache_increment)(hb_str key, int64_t by, uint64_t ttl_ms, int64_t *sum, hb_error *error) {
    hbw_result_s64_cache_error result;
    hbw_cache_increment(key.ptr, key.len, by, ttl_ms != 0, ttl_ms, &result);
    if (result.tag) HB_FAILED(error, result.err, HBW_CACHE_ERROR_NAMES);
    *sum = result.ok;
    return true;
}

bool(hb_cache_compare_and_set)(hb_str key, const hb_json *expected, const hb_json *value,
                               uint64_t ttl_ms, bool *stored, hb_error *error) {
    hbw_result_bool_cache_error result;
    hb_str old = expected ? hb_write(expected) : hb_span(NULL, 0), text = hb_write(value);
    hbw_cache_compare_and_set(key.ptr, key.len, expected != NULL, old.ptr, old.len, text.ptr,
                              text.len, ttl_ms != 0, ttl_ms, &result);
    if (result.tag) HB_FAILED(error, result.err, HBW_CACHE_ERROR_NAMES);
    *stored = result.ok;
    return true;
}

// ---- events ----

bool(hb_emit)(hb_str name, const hb_json *payload, hb_json **out, hb_error *error) {
    hbw_result_string_events_error result;
    hb_str text = hb_write(payload);
    hbw_events_emit(name.ptr, name.len, text.ptr, text.len, &result);
    if (result.tag) HB_FAILED(error, result.err, HBW_EVENTS_ERROR_NAMES);
    return hb_parse(result.ok, out, error);
}

// ---- clock and random ----

uint64_t hb_clock_now(void) { return hbw_clock_now(); }

void hb_random_bytes(void *buffer, size_t count) {
    hbw_list_u8 result;
    hbw_random_bytes((uint32_t)count, &result);
    if (count) memcpy(buffer, result.ptr, count);
}
