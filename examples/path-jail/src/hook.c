// Keeps an agent inside its project: looks at every path among a tool's arguments.
#include "hookbox.h"
#include "path.h"
#include "settings.h"

static bool contains_any(hb_str text, const char *const *words) {
    for (; *words; words++)
        if (hb_contains(text, *words)) return true;
    return false;
}

static purpose purpose_of(hb_str tool) {
    hb_str name = hb_lower(tool);
    if (contains_any(name, REMOVING_TOOLS)) return REMOVES;
    return contains_any(name, CHANGING_TOOLS) ? CHANGES : READS;
}

// `filePath`, `file_path` and `FILE-PATH` are the same key.
static hb_str plain_key(hb_str key) {
    hb_str lower = hb_lower(key);
    char *plain = hb_alloc(lower.len);
    size_t len = 0;
    for (size_t i = 0; i < lower.len; i++)
        if (lower.ptr[i] != '_' && lower.ptr[i] != '-') plain[len++] = lower.ptr[i];
    return hb_span(plain, len);
}

// For tools that look for files, a pattern is a path. For those that look into them, it is none.
static bool patterns_are_paths;

static bool names_a_path(hb_str key) {
    static const char *const endings[] = {"path", "file", "filename", "dir", "directory", NULL};
    hb_str one = plain_key(key);
    if (hb_ends_with(one, "directories")) return true;
    if (hb_ends_with(one, "s")) one.len--;
    if (patterns_are_paths && hb_ends_with(one, "pattern")) return true;
    for (const char *const *known = PATH_KEYS; *known; known++)
        if (hb_equal(one, *known)) return true;
    for (const char *const *ending = endings; *ending; ending++)
        if (hb_ends_with(one, *ending)) return true;
    return false;
}

static bool has_path_keys(const hb_json *object) {
    hb_each(member, object) if (names_a_path(hb_key(member))) return true;
    return false;
}

// The first path that must not be used, and why.
typedef struct finding {
    hb_str key, path, problem;
} finding;

// Looks at a value with all that it holds. `key` is that of the path which the value is
// or is a part of, and none elsewhere.
static bool look(const hb_json *value, hb_str key, purpose purpose, finding *found) {
    if (hb_kind_of(value) == HB_STRING && key.ptr) {
        *found = (finding){key, hb_string(value), path_problem(hb_string(value), purpose)};
        return found->problem.ptr != NULL;
    }
    bool object = hb_kind_of(value) == HB_OBJECT;
    // What lies beside a path is none: {"files": [{"path": …, "content": …}]}
    if (object && has_path_keys(value)) key = hb_span(NULL, 0);
    hb_each(item, value) {
        hb_str inner = object && names_a_path(hb_key(item)) ? hb_key(item) : key;
        if (look(item, inner, purpose, found)) return true;
    }
    return false;
}

hb_decision handle(const hb_event *event) {
    hb_str tool = hb_string_at(event->payload, "name");
    if (!tool.ptr) return hb_fail("the payload has no name of a tool");
    patterns_are_paths = hb_contains(hb_lower(tool), "glob");
    finding found;
    if (!look(hb_get(event->payload, "args"), hb_span(NULL, 0), purpose_of(tool), &found))
        return hb_allow();
    // As JSON, so that odd characters show, and no longer than it takes to recognise it.
    hb_str path = hb_write(hb_new_string(hb_truncate(found.path, 80)));
    hb_log_warn(hb_format("blocked: %S with %S %S", tool, found.key, path));
    hb_metrics_incr("path.blocked", 1);
    return hb_block(hb_format("%S: %S %S", found.key, path, found.problem));
}
