/// What a hook may call if its file says so: http, tools, environment, files and hooks.
/// A hook that uses none of these imports none of them.
#include "bindings.h"
#include "internal.h"

/// A text of no bytes is one, too, and may come without a place.
static hb_str there(hb_str text) { return text.len ? text : hb_span("", 0); }

static hb_str option(const hbw_option_string *text) {
    return text->tag ? there(text->some) : hb_span(NULL, 0);
}

// ---- http ----

// The public type lies in memory as that of the contract does.
_Static_assert(sizeof(hb_header) == sizeof(hbw_tuple_string_string), "header");

bool hb_http_send(const hb_request *request, hb_response *response, hb_error *error) {
    hbw_result_http_response_http_error result;
    hbw_http_send(request->method.ptr, request->method.len, request->url.ptr, request->url.len,
                  (const hbw_tuple_string_string *)(const void *)request->headers,
                  request->header_count, request->body.ptr != NULL,
                  (const uint8_t *)request->body.ptr, request->body.len, request->timeout_ms != 0,
                  request->timeout_ms, &result);
    if (result.tag) HB_FAILED(error, result.err, HBW_HTTP_ERROR_NAMES);
    *response = (hb_response){
        .status = result.ok.status,
        .headers = (const hb_header *)(const void *)result.ok.headers.ptr,
        .header_count = result.ok.headers.len,
        .body = there(hb_span((const char *)result.ok.body.ptr, result.ok.body.len)),
        .url = result.ok.url,
    };
    return true;
}

bool(hb_http_get)(hb_str url, hb_response *response, hb_error *error) {
    hb_request request = {.method = hb_c_str("GET"), .url = url};
    return hb_http_send(&request, response, error);
}

bool(hb_http_post)(hb_str url, hb_str body, hb_response *response, hb_error *error) {
    hb_request request = {.method = hb_c_str("POST"), .url = url, .body = body};
    return hb_http_send(&request, response, error);
}

hb_str(hb_response_header)(const hb_response *response, hb_str name) {
    for (size_t i = 0; i < response->header_count; i++)
        if (hb_equal_nocase(response->headers[i].name, name))
            return there(response->headers[i].value);
    return hb_span(NULL, 0);
}

// ---- tools ----

bool(hb_tools_call)(hb_str name, const hb_json *args, hb_json **out, hb_error *error) {
    hbw_result_string_tools_error result;
    hb_str text = hb_write(args);
    hbw_tools_call(name.ptr, name.len, text.ptr, text.len, &result);
    if (result.tag) HB_FAILED(error, result.err, HBW_TOOLS_ERROR_NAMES);
    return hb_parse(result.ok, out, error);
}

// ---- environment ----

bool(hb_env_get)(hb_str name, hb_str *value, hb_error *error) {
    hbw_result_option_string_environment_error result;
    hbw_environment_get(name.ptr, name.len, &result);
    if (result.tag) HB_FAILED(error, result.err, HBW_ENVIRONMENT_ERROR_NAMES);
    *value = option(&result.ok);
    return true;
}

// ---- files ----

bool(hb_files_read)(hb_str path, hb_str *bytes, hb_error *error) {
    hbw_result_list_u8_files_error result;
    hbw_files_read(path.ptr, path.len, &result);
    if (result.tag) HB_FAILED(error, result.err, HBW_FILES_ERROR_NAMES);
    *bytes = there(hb_span((const char *)result.ok.ptr, result.ok.len));
    return true;
}

bool(hb_files_list)(hb_str path, const hb_str **names, size_t *count, hb_error *error) {
    hbw_result_list_string_files_error result;
    hbw_files_entries(path.ptr, path.len, &result);
    if (result.tag) HB_FAILED(error, result.err, HBW_FILES_ERROR_NAMES);
    *names = result.ok.ptr;
    *count = result.ok.len;
    return true;
}

// ---- hooks ----

bool hb_hooks_list(const hb_hook **hooks, size_t *count, hb_error *error) {
    hbw_result_list_hooks_hook_hooks_error result;
    hbw_hooks_all(&result);
    if (result.tag) HB_FAILED(error, result.err, HBW_HOOKS_ERROR_NAMES);
    hb_hook *made = hb_alloc(result.ok.len * sizeof *made);
    for (size_t i = 0; i < result.ok.len; i++) {
        const hbw_hooks_hook *hook = &result.ok.ptr[i];
        made[i] = (hb_hook){
            .name = hook->name,
            .event = hook->event,
            .priority = hook->priority,
            .explicit_priority = hook->explicit_priority,
            .when = option(&hook->when),
            .handler = hook->handler,
            .file = hook->file,
        };
    }
    *hooks = made;
    *count = result.ok.len;
    return true;
}

bool(hb_hooks_source)(hb_str name, hb_str *source, hb_error *error) {
    hbw_result_option_string_hooks_error result;
    hbw_hooks_source(name.ptr, name.len, &result);
    if (result.tag) HB_FAILED(error, result.err, HBW_HOOKS_ERROR_NAMES);
    *source = option(&result.ok);
    return true;
}
