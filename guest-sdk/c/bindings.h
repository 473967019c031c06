/* The contract on the wire: what the canonical ABI makes of wit/hook.wit.
 *
 * Written by generate.py; change the contract or the generator instead. A type
 * here lies in memory as the host reads and writes it. Hook authors do not need
 * this file: hookbox.h has the same in C's own words. */
// clang-format off
#ifndef HOOKBOX_BINDINGS_H
#define HOOKBOX_BINDINGS_H

#include "hookbox.h"

#ifdef __wasm__
#define HBW_IMPORT(module, name) __attribute__((import_module(module), import_name(name)))
#define HBW_EXPORT(name) __attribute__((export_name(name)))
#else
#define HBW_IMPORT(module, name)
#define HBW_EXPORT(name)
#endif

enum {
    HBW_DECISION_ALLOW,
    HBW_DECISION_BLOCK,
    HBW_DECISION_MODIFY,
    HBW_DECISION_ASK,
};
typedef struct {
    uint8_t tag;
    union {
        hb_str block;
        hb_str modify;
        hb_str ask;
    };
} hbw_decision;

enum {
    HBW_PLACEMENT_SYSTEM_REMINDER,
    HBW_PLACEMENT_SYSTEM_MESSAGE,
    HBW_PLACEMENT_PREPEND_TO_PROMPT,
    HBW_PLACEMENT_APPEND_TO_OUTPUT,
};

typedef struct {
    hb_str text;
    uint8_t placement;
} hbw_context;

typedef struct {
    hb_str *ptr;
    size_t len;
} hbw_list_string;

typedef struct {
    uint8_t tag;
    hb_str some;
} hbw_option_string;

typedef struct {
    uint8_t tag;
    uint32_t some;
} hbw_option_u32;

enum {
    HBW_PROPAGATION_ALL,
    HBW_PROPAGATION_SESSION,
    HBW_PROPAGATION_NONE,
};

enum {
    HBW_ROLE_HINT_SYSTEM,
    HBW_ROLE_HINT_DEVELOPER,
    HBW_ROLE_HINT_USER_BLOCK,
    HBW_ROLE_HINT_EPHEMERAL_CACHE,
};

typedef struct {
    hb_str body;
    hbw_list_string tags;
    hbw_option_string dedupe_key;
    hbw_option_u32 ttl_turns;
    uint8_t preserve_on_compact;
    uint8_t propagate;
    uint8_t role_hint;
} hbw_reminder;

enum {
    HBW_EFFECT_CONTEXT,
    HBW_EFFECT_REMINDER,
};
typedef struct {
    uint8_t tag;
    union {
        hbw_context context;
        hbw_reminder reminder;
    };
} hbw_effect;

typedef struct {
    hbw_effect *ptr;
    size_t len;
} hbw_list_effect;

typedef struct {
    hbw_decision decision;
    hbw_list_effect effects;
} hbw_answer;

typedef struct {
    hb_str message;
    hbw_option_string stack;
} hbw_failure;

typedef struct {
    uint8_t tag;
    union {
        hbw_answer ok;
        hbw_failure err;
    };
} hbw_result_answer_failure;

enum {
    HBW_LOG_LEVEL_DEBUG,
    HBW_LOG_LEVEL_INFO,
    HBW_LOG_LEVEL_WARN,
    HBW_LOG_LEVEL_ERROR,
};

enum {
    HBW_METRICS_NUMBER_INTEGER,
    HBW_METRICS_NUMBER_REAL,
};
typedef struct {
    uint8_t tag;
    union {
        int64_t integer;
        double real;
    };
} hbw_metrics_number;

typedef struct {
    uint8_t tag;
    hbw_metrics_number some;
} hbw_option_metrics_number;

typedef struct {
    hb_str f0;
    hbw_metrics_number f1;
} hbw_tuple_string_metrics_number;

typedef struct {
    hbw_tuple_string_metrics_number *ptr;
    size_t len;
} hbw_list_tuple_string_metrics_number;

#define HBW_CACHE_ERROR_NAMES {"not-granted", "quota", "wrong-type", "unavailable"}
typedef struct {
    uint8_t tag;
    hb_str value;
} hbw_cache_error;

typedef struct {
    uint8_t tag;
    union {
        hbw_option_string ok;
        hbw_cache_error err;
    };
} hbw_result_option_string_cache_error;

typedef struct {
    uint8_t tag;
    hbw_cache_error err;
} hbw_result_cache_error;

typedef struct {
    uint8_t tag;
    union {
        uint8_t ok;
        hbw_cache_error err;
    };
} hbw_result_bool_cache_error;

typedef struct {
    uint8_t tag;
    union {
        int64_t ok;
        hbw_cache_error err;
    };
} hbw_result_s64_cache_error;

typedef struct {
    hb_str f0;
    hb_str f1;
} hbw_tuple_string_string;

typedef struct {
    hbw_tuple_string_string *ptr;
    size_t len;
} hbw_list_tuple_string_string;

typedef struct {
    uint8_t *ptr;
    size_t len;
} hbw_list_u8;

typedef struct {
    uint16_t status;
    hbw_list_tuple_string_string headers;
    hbw_list_u8 body;
    hb_str url;
} hbw_http_response;

#define HBW_HTTP_ERROR_NAMES {"not-granted", "invalid-request", "timeout", "too-large", "failed"}
typedef struct {
    uint8_t tag;
    hb_str value;
} hbw_http_error;

typedef struct {
    uint8_t tag;
    union {
        hbw_http_response ok;
        hbw_http_error err;
    };
} hbw_result_http_response_http_error;

#define HBW_EVENTS_ERROR_NAMES {"blocked", "refused"}
typedef struct {
    uint8_t tag;
    hb_str value;
} hbw_events_error;

typedef struct {
    uint8_t tag;
    union {
        hb_str ok;
        hbw_events_error err;
    };
} hbw_result_string_events_error;

#define HBW_TOOLS_ERROR_NAMES {"not-granted", "blocked", "unknown-tool", "failed"}
typedef struct {
    uint8_t tag;
    hb_str value;
} hbw_tools_error;

typedef struct {
    uint8_t tag;
    union {
        hb_str ok;
        hbw_tools_error err;
    };
} hbw_result_string_tools_error;

#define HBW_ENVIRONMENT_ERROR_NAMES {"not-granted"}
typedef struct {
    uint8_t tag;
    hb_str value;
} hbw_environment_error;

typedef struct {
    uint8_t tag;
    union {
        hbw_option_string ok;
        hbw_environment_error err;
    };
} hbw_result_option_string_environment_error;

#define HBW_FILES_ERROR_NAMES {"not-granted", "not-found", "too-large", "failed"}
typedef struct {
    uint8_t tag;
    hb_str value;
} hbw_files_error;

typedef struct {
    uint8_t tag;
    union {
        hbw_list_u8 ok;
        hbw_files_error err;
    };
} hbw_result_list_u8_files_error;

typedef struct {
    uint8_t tag;
    union {
        hbw_list_string ok;
        hbw_files_error err;
    };
} hbw_result_list_string_files_error;

typedef struct {
    hb_str name;
    hb_str event;
    int64_t priority;
    uint8_t explicit_priority;
    hbw_option_string when;
    hb_str handler;
    hb_str file;
} hbw_hooks_hook;

typedef struct {
    hbw_hooks_hook *ptr;
    size_t len;
} hbw_list_hooks_hook;

#define HBW_HOOKS_ERROR_NAMES {"not-granted"}
typedef struct {
    uint8_t tag;
    hb_str value;
} hbw_hooks_error;

typedef struct {
    uint8_t tag;
    union {
        hbw_list_hooks_hook ok;
        hbw_hooks_error err;
    };
} hbw_result_list_hooks_hook_hooks_error;

typedef struct {
    uint8_t tag;
    union {
        hbw_option_string ok;
        hbw_hooks_error err;
    };
} hbw_result_option_string_hooks_error;

HBW_EXPORT("hookbox:hook/handler@1.1.0#handle")
hbw_result_answer_failure *hbw_handler_handle(
    const char *event_name, size_t event_name_len, const char *event_payload,
    size_t event_payload_len, const char *event_id, size_t event_id_len, int32_t event_subject_tag,
    const char *event_subject, size_t event_subject_len, const char *event_hook,
    size_t event_hook_len, uint32_t event_depth);

HBW_IMPORT("hookbox:hook/log@1.1.0", "write")
void hbw_log_write(int32_t level, const char *message, size_t message_len);

HBW_IMPORT("hookbox:hook/metrics@1.1.0", "incr")
void hbw_metrics_incr(const char *name, size_t name_len, int64_t delta, hbw_metrics_number *result);

HBW_IMPORT("hookbox:hook/metrics@1.1.0", "set")
void hbw_metrics_set(const char *name, size_t name_len, int32_t value_tag, int64_t value_0);

HBW_IMPORT("hookbox:hook/metrics@1.1.0", "get")
void hbw_metrics_get(const char *name, size_t name_len, hbw_option_metrics_number *result);

HBW_IMPORT("hookbox:hook/metrics@1.1.0", "snapshot")
void hbw_metrics_snapshot(hbw_list_tuple_string_metrics_number *result);

HBW_IMPORT("hookbox:hook/cache@1.1.0", "get")
void hbw_cache_get(const char *key, size_t key_len, hbw_result_option_string_cache_error *result);

HBW_IMPORT("hookbox:hook/cache@1.1.0", "set")
void hbw_cache_set(
    const char *key, size_t key_len, const char *value, size_t value_len, int32_t ttl_ms_tag,
    uint64_t ttl_ms, hbw_result_cache_error *result);

HBW_IMPORT("hookbox:hook/cache@1.1.0", "has")
void hbw_cache_has(const char *key, size_t key_len, hbw_result_bool_cache_error *result);

HBW_IMPORT("hookbox:hook/cache@1.1.0", "delete")
void hbw_cache_delete(const char *key, size_t key_len, hbw_result_bool_cache_error *result);

HBW_IMPORT("hookbox:hook/cache@1.1.0", "increment")
void hbw_cache_increment(
    const char *key, size_t key_len, int64_t delta, int32_t ttl_ms_tag, uint64_t ttl_ms,
    hbw_result_s64_cache_error *result);

HBW_IMPORT("hookbox:hook/cache@1.1.0", "compare-and-set")
void hbw_cache_compare_and_set(
    const char *key, size_t key_len, int32_t expected_tag, const char *expected,
    size_t expected_len, const char *value, size_t value_len, int32_t ttl_ms_tag, uint64_t ttl_ms,
    hbw_result_bool_cache_error *result);

HBW_IMPORT("hookbox:hook/http@1.1.0", "send")
void hbw_http_send(
    const char *request_method, size_t request_method_len, const char *request_url,
    size_t request_url_len, const hbw_tuple_string_string *request_headers,
    size_t request_headers_len, int32_t request_body_tag, const uint8_t *request_body,
    size_t request_body_len, int32_t request_timeout_ms_tag, uint32_t request_timeout_ms,
    hbw_result_http_response_http_error *result);

HBW_IMPORT("hookbox:hook/events@1.1.0", "emit")
void hbw_events_emit(
    const char *name, size_t name_len, const char *payload, size_t payload_len,
    hbw_result_string_events_error *result);

HBW_IMPORT("hookbox:hook/tools@1.1.0", "call")
void hbw_tools_call(
    const char *name, size_t name_len, const char *args, size_t args_len,
    hbw_result_string_tools_error *result);

HBW_IMPORT("hookbox:hook/clock@1.1.0", "now")
uint64_t hbw_clock_now(void);

HBW_IMPORT("hookbox:hook/random@1.1.0", "bytes")
void hbw_random_bytes(uint32_t count, hbw_list_u8 *result);

HBW_IMPORT("hookbox:hook/fatal@1.1.0", "stop")
void hbw_fatal_stop(
    const char *failure_message, size_t failure_message_len, int32_t failure_stack_tag,
    const char *failure_stack, size_t failure_stack_len);

HBW_IMPORT("hookbox:hook/environment@1.1.0", "get")
void hbw_environment_get(
    const char *name, size_t name_len, hbw_result_option_string_environment_error *result);

HBW_IMPORT("hookbox:hook/files@1.1.0", "read")
void hbw_files_read(const char *path, size_t path_len, hbw_result_list_u8_files_error *result);

HBW_IMPORT("hookbox:hook/files@1.1.0", "entries")
void hbw_files_entries(
    const char *path, size_t path_len, hbw_result_list_string_files_error *result);

HBW_IMPORT("hookbox:hook/hooks@1.1.0", "all")
void hbw_hooks_all(hbw_result_list_hooks_hook_hooks_error *result);

HBW_IMPORT("hookbox:hook/hooks@1.1.0", "source")
void hbw_hooks_source(
    const char *name, size_t name_len, hbw_result_option_string_hooks_error *result);

#endif
