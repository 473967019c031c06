// Blocks commands that talk to hosts nobody put on the list.
#include "hookbox.h"

// Where commands may go: these hosts and everything below them.
static const char *const ALLOWED[] = {"github.com", "gitlab.com", "wikipedia.org", "docs.rs"};
static const size_t ALLOWED_COUNT = sizeof ALLOWED / sizeof *ALLOWED;

static bool is_allowed(hb_str host) {
    for (size_t i = 0; i < ALLOWED_COUNT; i++)
        if (hb_equal(host, ALLOWED[i]) || hb_ends_with(host, hb_format(".%s", ALLOWED[i])))
            return true;
    return false;
}

static hb_str allowed_hosts(void) {
    hb_str list = hb_format("%s", ALLOWED[0]);
    for (size_t i = 1; i < ALLOWED_COUNT; i++) list = hb_format("%S, %s", list, ALLOWED[i]);
    return list;
}

// Says whether a path, a query, the shell or white space ends the part with the host.
static bool ends_authority(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r') || hb_contains("/?#'\"`;|&)>", hb_span(&c, 1));
}

// Finds the next URL from `*at` on, and moves `*at` behind its `://`.
static bool next_url(hb_str text, size_t *at, hb_str *authority) {
    for (size_t i = *at; i < text.len; i++) {
        hb_str rest = hb_slice(text, i, text.len);
        size_t start;
        if (hb_starts_with(rest, "http://"))
            start = i + 7;
        else if (hb_starts_with(rest, "https://"))
            start = i + 8;
        else
            continue;
        size_t end = start;
        while (end < text.len && !ends_authority(text.ptr[end])) end++;
        *authority = hb_slice(text, start, end);
        *at = start;
        return true;
    }
    return false;
}

// Returns the host in `user:password@host:port`.
static hb_str host_of(hb_str authority) {
    hb_str host = authority;
    size_t at;
    while ((at = hb_find(host, "@")) != HB_NONE) host = hb_slice(host, at + 1, host.len);
    if (hb_starts_with(host, "["))
        host = hb_slice(host, 1, hb_find(host, "]"));
    else
        host = hb_slice(host, 0, hb_find(host, ":"));
    return hb_ends_with(host, ".") ? hb_slice(host, 0, host.len - 1) : host;
}

hb_decision handle(const hb_event *event) {
    hb_str command = hb_string_at(event->payload, "args.command");
    if (!command.ptr) return hb_fail("args.command is not a string");

    hb_str text = hb_lower(command), authority;
    for (size_t at = 0; next_url(text, &at, &authority);) {
        hb_str host = host_of(authority);
        if (is_allowed(host)) continue;
        hb_log_warn(hb_format("blocked: %S", command));
        hb_metrics_incr("egress.blocked", 1);
        return hb_block(hb_format("egress to %S is not allowed; allowed hosts: %S",
                                  host.len ? host : HB_STR("a URL without a host"),
                                  allowed_hosts()));
    }
    return hb_allow();
}
