// Does what `args.do` asks for: one mode for each thing an SDK has to get right.
#include "hookbox.h"

static hb_decision note(hb_json *value) {
    hb_json *payload = hb_new_object();
    hb_set(payload, "note", value);
    return hb_modify(payload);
}

static hb_decision note_error(hb_error error) {
    hb_json *value = hb_new_object();
    hb_set(value, "error", hb_new_string(error.kind));
    return note(value);
}

// A text as a string, none as null.
static hb_json *optional(hb_str text) { return text.ptr ? hb_new_string(text) : hb_new_null(); }

// ---- decisions and effects ----

static hb_decision do_allow(const hb_event *event, hb_json *args) {
    (void)event, (void)args;
    return hb_allow();
}

static hb_decision do_block(const hb_event *event, hb_json *args) {
    (void)event;
    return hb_block(hb_string_at(args, "reason"));
}

static hb_decision do_ask(const hb_event *event, hb_json *args) {
    (void)event;
    return hb_ask(hb_string_at(args, "message"));
}

static hb_decision do_modify(const hb_event *event, hb_json *args) {
    (void)event;
    return note(hb_get(args, "value"));
}

static hb_decision do_echo(const hb_event *event, hb_json *args) {
    (void)args;
    return hb_modify(event->payload);
}

// Returns which of some names a text is; the first if it is none.
static int one_of(hb_str text, const char *const *names, int count) {
    for (int i = 0; i < count; i++)
        if (hb_equal(text, names[i])) return i;
    return 0;
}

static hb_decision do_context(const hb_event *event, hb_json *args) {
    static const char *const names[] = {"system-reminder", "system-message", "prepend-to-prompt",
                                        "append-to-output"};
    (void)event;
    hb_each(context, hb_get(args, "contexts")) {
        hb_str text = hb_string_at(context, "text"), placement = hb_string_at(context, "placement");
        if (placement.ptr)
            hb_context_at(text, (hb_placement)one_of(placement, names, 4));
        else
            hb_context(text);
    }
    return hb_allow();
}

static hb_decision do_reminder(const hb_event *event, hb_json *args) {
    static const char *const propagations[] = {"session", "all", "none"};
    static const char *const roles[] = {"system", "developer", "user-block", "ephemeral-cache"};
    (void)event;
    hb_str body = hb_string_at(args, "body");
    if (hb_count(args) == 2) {  // `do` and `body`
        hb_reminder(body);
        return hb_allow();
    }
    hb_json *list = hb_get(args, "tags");
    hb_str *tags = hb_alloc(hb_count(list) * sizeof *tags);
    size_t tag_count = 0;
    hb_each(tag, list) tags[tag_count++] = hb_string(tag);
    int64_t ttl = 0;
    hb_to_int(hb_get(args, "ttl_turns"), &ttl);
    hb_reminder_with(
        body,
        (hb_reminder_options){
            .tags = tags,
            .tag_count = tag_count,
            .dedupe_key = hb_string_at(args, "dedupe_key"),
            .ttl_turns = (uint32_t)ttl,
            .preserve_on_compact = hb_is_true(hb_get(args, "preserve_on_compact")),
            .propagate = (hb_propagation)one_of(hb_string_at(args, "propagate"), propagations, 3),
            .role_hint = (hb_role_hint)one_of(hb_string_at(args, "role_hint"), roles, 4),
        });
    return hb_allow();
}

static hb_decision do_effects_block(const hb_event *event, hb_json *args) {
    (void)event, (void)args;
    hb_context("first");
    hb_reminder("second");
    return hb_block("with effects");
}

// ---- what every hook may use ----

static hb_decision do_log(const hb_event *event, hb_json *args) {
    (void)event;
    hb_str text = hb_string_at(args, "text");
    hb_log_debug(text);
    hb_log_info(text);
    hb_log_warn(text);
    hb_log_error(text);
    return hb_allow();
}

static hb_json *metric(const char *name) {
    hb_number value;
    return hb_metrics_get(name, &value) ? hb_new_number(value) : hb_new_null();
}

static hb_decision do_metrics(const hb_event *event, hb_json *args) {
    (void)event, (void)args;
    hb_json *value = hb_new_object(), *names = hb_new_array();
    hb_set(value, "first", hb_new_number(hb_metrics_incr("conformance.count", 2)));
    hb_set(value, "second", hb_new_number(hb_metrics_incr("conformance.count", 1)));
    hb_metrics_set("conformance.gauge", 2.5);
    hb_metrics_set_int("conformance.whole", 7);
    hb_set(value, "gauge", metric("conformance.gauge"));
    hb_set(value, "whole", metric("conformance.whole"));
    hb_set(value, "missing", metric("conformance.none"));
    hb_set(value, "names", names);
    size_t count;
    const hb_metric *all = hb_metrics_snapshot(&count);
    for (size_t i = 0; i < count; i++)
        if (hb_starts_with(all[i].name, "conformance.")) hb_push(names, hb_new_string(all[i].name));
    return note(value);
}

static hb_decision do_cache(const hb_event *event, hb_json *args) {
    (void)event;
    hb_json *value = hb_new_object(), *got, *gone, *c;
    hb_json *one = hb_new_int(1), *two = hb_new_int(2), *object = hb_new_raw("{\"x\":2}");
    bool has, deleted, again, fresh, stale, swapped;
    int64_t five, seven;
    hb_error error;
    if (!hb_cache_set("k", hb_get(args, "value"), 0, &error) || !hb_cache_get("k", &got, &error) ||
        !hb_cache_has("k", &has, &error) || !hb_cache_delete("k", &deleted, &error) ||
        !hb_cache_delete("k", &again, &error) || !hb_cache_get("k", &gone, &error) ||
        !hb_cache_increment("n", 5, 0, &five, &error) ||
        !hb_cache_increment("n", 2, 0, &seven, &error) ||
        !hb_cache_compare_and_set("c", NULL, one, 0, &fresh, &error) ||
        !hb_cache_compare_and_set("c", NULL, two, 0, &stale, &error) ||
        !hb_cache_compare_and_set("c", one, object, 0, &swapped, &error) ||
        !hb_cache_get("c", &c, &error))
        return hb_fail_with(error);
    hb_set(value, "got", got);
    hb_set(value, "has", hb_new_bool(has));
    hb_set(value, "deleted", hb_new_bool(deleted));
    hb_set(value, "again", hb_new_bool(again));
    hb_set(value, "gone", gone);
    hb_set(value, "five", hb_new_int(five));
    hb_set(value, "seven", hb_new_int(seven));
    hb_set(value, "fresh", hb_new_bool(fresh));
    hb_set(value, "stale", hb_new_bool(stale));
    hb_set(value, "swapped", hb_new_bool(swapped));
    hb_set(value, "c", c);
    return note(value);
}

static hb_decision do_cache_ttl(const hb_event *event, hb_json *args) {
    (void)event, (void)args;
    hb_json *value;
    hb_error error;
    if (!hb_cache_set("t", hb_new_int(1), 60000, &error) || !hb_cache_get("t", &value, &error))
        return hb_fail_with(error);
    return note(value);
}

static hb_decision do_cache_quota(const hb_event *event, hb_json *args) {
    (void)event;
    int64_t size = 0;
    hb_error error;
    hb_to_int(hb_get(args, "size"), &size);
    char *letters = hb_alloc((size_t)size);
    for (int64_t i = 0; i < size; i++) letters[i] = 'x';
    if (!hb_cache_set("big", hb_new_string(hb_span(letters, (size_t)size)), 0, &error))
        return note_error(error);
    return note(hb_new_string("stored"));
}

static hb_decision do_cache_wrong_type(const hb_event *event, hb_json *args) {
    (void)event, (void)args;
    int64_t sum;
    hb_error error;
    if (!hb_cache_set("w", hb_new_string("text"), 0, &error)) return hb_fail_with(error);
    if (!hb_cache_increment("w", 1, 0, &sum, &error)) return note_error(error);
    return note(hb_new_int(sum));
}

static hb_decision do_emit(const hb_event *event, hb_json *args) {
    (void)event;
    hb_json *result;
    hb_error error;
    if (!hb_emit(hb_string_at(args, "name"), hb_new_raw("{\"n\":1}"), &result, &error))
        return note_error(error);
    return note(result);
}

static hb_decision do_clock(const hb_event *event, hb_json *args) {
    (void)event, (void)args;
    return note(hb_new_int((int64_t)hb_clock_now()));
}

static hb_decision do_random(const hb_event *event, hb_json *args) {
    (void)event, (void)args;
    uint8_t bytes[8];
    char digits[16];
    hb_random_bytes(bytes, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++) {
        digits[2 * i] = "0123456789abcdef"[bytes[i] >> 4];
        digits[2 * i + 1] = "0123456789abcdef"[bytes[i] & 15];
    }
    return note(hb_new_string(hb_span(digits, sizeof digits)));
}

static hb_decision do_event(const hb_event *event, hb_json *args) {
    (void)args;
    hb_json *value = hb_new_object();
    hb_set(value, "name", hb_new_string(event->name));
    hb_set(value, "id", hb_new_string(event->id));
    hb_set(value, "subject", optional(event->subject));
    hb_set(value, "hook", hb_new_string(event->hook));
    hb_set(value, "depth", hb_new_int(event->depth));
    return note(value);
}

// ---- what has to be granted ----

static hb_decision do_http_get(const hb_event *event, hb_json *args) {
    (void)event;
    hb_header header = {hb_c_str("x-conformance"), hb_c_str("yes")};
    hb_request request = {
        .method = hb_c_str("GET"),
        .url = hb_string_at(args, "url"),
        .headers = &header,
        .header_count = 1,
    };
    hb_response response;
    hb_error error;
    if (!hb_http_send(&request, &response, &error)) return note_error(error);
    hb_json *value = hb_new_object();
    hb_set(value, "status", hb_new_int(response.status));
    hb_set(value, "text", hb_new_string(response.body));
    hb_set(value, "header", optional(hb_response_header(&response, "x-answer")));
    return note(value);
}

static hb_decision do_http_post(const hb_event *event, hb_json *args) {
    (void)event;
    hb_response response;
    hb_error error;
    if (!hb_http_post(hb_string_at(args, "url"), hb_string_at(args, "body"), &response, &error))
        return note_error(error);
    hb_json *value = hb_new_object();
    hb_set(value, "status", hb_new_int(response.status));
    hb_set(value, "text", hb_new_string(response.body));
    return note(value);
}

static hb_decision do_tools(const hb_event *event, hb_json *args) {
    (void)event;
    hb_json *result;
    hb_error error;
    if (!hb_tools_call(hb_string_at(args, "tool"), hb_new_raw("{\"q\":\"x\"}"), &result, &error))
        return note_error(error);
    return note(result);
}

static hb_decision do_env(const hb_event *event, hb_json *args) {
    (void)event;
    hb_str value;
    hb_error error;
    if (!hb_env_get(hb_string_at(args, "variable"), &value, &error)) return note_error(error);
    return note(optional(value));
}

static hb_decision do_files(const hb_event *event, hb_json *args) {
    (void)event;
    hb_str bytes;
    hb_error error;
    if (!hb_files_read(hb_string_at(args, "path"), &bytes, &error)) return note_error(error);
    return note(hb_new_string(bytes));
}

static hb_decision do_files_list(const hb_event *event, hb_json *args) {
    (void)event;
    const hb_str *names;
    size_t count;
    hb_error error;
    if (!hb_files_list(hb_string_at(args, "path"), &names, &count, &error))
        return note_error(error);
    hb_json *list = hb_new_array();
    for (size_t i = 0; i < count; i++) hb_push(list, hb_new_string(names[i]));
    return note(list);
}

static hb_decision do_hooks(const hb_event *event, hb_json *args) {
    (void)event, (void)args;
    const hb_hook *hooks;
    size_t count;
    hb_error error;
    if (!hb_hooks_list(&hooks, &count, &error)) return note_error(error);
    hb_json *list = hb_new_array();
    for (size_t i = 0; i < count; i++) hb_push(list, hb_new_string(hooks[i].name));
    return note(list);
}

static hb_decision do_hooks_source(const hb_event *event, hb_json *args) {
    (void)event, (void)args;
    hb_str some, none;
    hb_error error;
    if (!hb_hooks_source("conformance", &some, &error) || !hb_hooks_source("nobody", &none, &error))
        return note_error(error);
    hb_json *value = hb_new_object();
    hb_set(value, "some", hb_new_bool(hb_contains(some, "event:")));
    hb_set(value, "none", optional(none));
    return note(value);
}

// ---- ways to fail ----

static hb_decision do_error(const hb_event *event, hb_json *args) {
    (void)event;
    return hb_fail(hb_string_at(args, "message"));
}

static hb_decision do_panic(const hb_event *event, hb_json *args) {
    (void)event;
    hb_panic(hb_string_at(args, "message"));
}

static hb_decision do_nothing(const hb_event *event, hb_json *args) {
    (void)event, (void)args;
    return (hb_decision){0};
}

static hb_decision do_loop(const hb_event *event, hb_json *args) {
    (void)event, (void)args;
    for (volatile int i = 0;; i++) {
    }
}

static hb_decision do_memory(const hb_event *event, hb_json *args) {
    (void)event, (void)args;
    for (;;) *(volatile char *)hb_alloc(65536) = 1;
}

// What is done after the call keeps the frame.
static void recurse(volatile unsigned *depth) {
    ++*depth;
    if (*depth) recurse(depth);
    --*depth;
}

static hb_decision do_recursion(const hb_event *event, hb_json *args) {
    (void)event, (void)args;
    volatile unsigned depth = 0;
    recurse(&depth);
    return note(hb_new_int(depth));
}

static const struct mode {
    const char *name;
    hb_decision (*run)(const hb_event *event, hb_json *args);
} modes[] = {
    {"allow", do_allow},
    {"block", do_block},
    {"ask", do_ask},
    {"modify", do_modify},
    {"echo", do_echo},
    {"context", do_context},
    {"reminder", do_reminder},
    {"effects-block", do_effects_block},
    {"log", do_log},
    {"metrics", do_metrics},
    {"cache", do_cache},
    {"cache-ttl", do_cache_ttl},
    {"cache-quota", do_cache_quota},
    {"cache-wrong-type", do_cache_wrong_type},
    {"http-get", do_http_get},
    {"http-post", do_http_post},
    {"tools", do_tools},
    {"env", do_env},
    {"files", do_files},
    {"files-list", do_files_list},
    {"hooks", do_hooks},
    {"hooks-source", do_hooks_source},
    {"emit", do_emit},
    {"clock", do_clock},
    {"random", do_random},
    {"event", do_event},
    {"error", do_error},
    {"panic", do_panic},
    {"nothing", do_nothing},
    {"loop", do_loop},
    {"memory", do_memory},
    {"recursion", do_recursion},
};

hb_decision handle(const hb_event *event) {
    hb_json *args = hb_get(event->payload, "args");
    hb_str name = hb_string_at(args, "do");
    if (!name.ptr) return hb_allow();
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (hb_equal(name, modes[i].name)) return modes[i].run(event, args);
    return hb_fail(hb_format("unknown mode: %S", name));
}
