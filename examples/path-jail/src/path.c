#include "path.h"

#include "odd.h"
#include "settings.h"

// What Linux takes; anything longer is no path.
#define LONGEST 4096
#define MOST_SEGMENTS 128

// A path in its shortest form: what is between the slashes, without `.` and `..`.
typedef struct segments {
    hb_str names[MOST_SEGMENTS];
    size_t count;
    bool absolute, climbs, too_many;
} segments;

static const hb_str fine = {NULL, 0};

static bool is_one_of(char c, const char *characters) {
    return hb_contains(characters, hb_span(&c, 1));
}

// Some layers drop blanks and quotes around a path before they use it.
static hb_str unwrapped(hb_str path) {
    while (path.len && is_one_of(path.ptr[0], " '\"")) path = hb_slice(path, 1, path.len);
    while (path.len && is_one_of(path.ptr[path.len - 1], " '\"")) path.len--;
    return path;
}

static bool is_letter(char c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; }

static bool is_web_address(hb_str path) {
    hb_str lower = hb_lower(hb_slice(path, 0, 8));
    return hb_starts_with(lower, "http://") || hb_starts_with(lower, "https://");
}

// Says how a path starts somewhere else than where the tool is.
static hb_str elsewhere(hb_str path) {
    char first = path.len > 0 ? path.ptr[0] : 0, second = path.len > 1 ? path.ptr[1] : 0;
    if (hb_contains(path, "\\")) return HB_STR("has a backslash; write it with /");
    if (is_letter(first) && second == ':')
        return HB_STR("starts with a drive letter; start at the project");
    if (first == '~') return HB_STR("is in a home directory; start at the project");
    if (first == '$' && (second == '{' || second == '(' || (second >= 'A' && second <= 'Z')))
        return HB_STR("starts with a variable; write what it stands for");
    if (hb_equal_nocase(hb_slice(path, 0, 5), "file:"))
        return HB_STR("is a URL of a file; write the path");
    return fine;
}

static void add_segment(segments *all, hb_str name) {
    hb_str plain = hb_trim(name);  // Windows takes `.. ` for `..`
    if (plain.len == 0 || hb_equal(plain, ".")) return;
    if (!hb_equal(plain, "..")) {
        if (all->count == MOST_SEGMENTS)
            all->too_many = true;
        else
            all->names[all->count++] = name;
    } else if (all->count > 0) {
        all->count--;
    } else if (!all->absolute) {
        all->climbs = true;
    }
}

static void split(hb_str path, segments *all) {
    all->count = 0;
    all->climbs = all->too_many = false;
    all->absolute = hb_starts_with(path, "/");
    for (;;) {
        size_t slash = hb_find(path, "/");
        add_segment(all, hb_slice(path, 0, slash));
        if (slash == HB_NONE) return;
        path = hb_slice(path, slash + 1, path.len);
    }
}

// Drops the segments of a root that a path starts with, and says whether it does.
static bool enter(segments *path, const char *root_path) {
    segments root;
    split(HB_STR(root_path), &root);
    if (root.count > path->count) return false;
    for (size_t i = 0; i < root.count; i++)
        if (!hb_equal(root.names[i], path->names[i])) return false;
    for (size_t i = root.count; i < path->count; i++) path->names[i - root.count] = path->names[i];
    path->count -= root.count;
    return true;
}

static hb_str outside(segments *path) {
    if (path->climbs) return HB_STR("leaves the project");
    if (!path->absolute) return fine;
    hb_str first = path->count ? path->names[0] : HB_STR("");
    if (hb_equal(first, "proc") || hb_equal(first, "sys") || hb_equal(first, "dev"))
        return hb_format("leads through /%S, which can lead anywhere", first);
    hb_str list = HB_STR("");
    for (const char *const *root = ROOTS; *root; root++) {
        if (enter(path, *root)) return fine;
        list = hb_format("%S%s%s", list, list.len ? ", " : "", *root);
    }
    return hb_format("is outside of the project; absolute paths are allowed below %S", list);
}

// A name as file systems compare it that do not care for case, drop dots and blanks at
// the end, or have streams behind a colon. What is too much for others does no harm.
static hb_str folded(hb_str name) {
    name = hb_slice(name, 0, hb_find(name, ":"));
    while (name.len && is_one_of(name.ptr[name.len - 1], ". ")) name.len--;
    name = hb_lower(name);
    return hb_equal(name, "git~1") ? HB_STR(".git") : name;
}

static bool matches(hb_str text, hb_str pattern) {
    if (!hb_ends_with(pattern, "*")) return hb_equal(text, pattern);
    return hb_starts_with(text, hb_slice(pattern, 0, pattern.len - 1));
}

// Says whether a name matches a pattern, which may ask for a directory somewhere above it.
static bool matches_below(const segments *path, size_t index, hb_str pattern) {
    size_t slash = hb_find(pattern, "/");
    hb_str name = folded(path->names[index]);
    if (slash == HB_NONE) return matches(name, pattern);
    if (!matches(name, hb_slice(pattern, slash + 1, pattern.len))) return false;
    for (size_t i = 0; i < index; i++)
        if (hb_equal(folded(path->names[i]), hb_slice(pattern, 0, slash))) return true;
    return false;
}

static bool matches_any(const segments *path, size_t index, const char *const *patterns) {
    for (; *patterns; patterns++)
        if (matches_below(path, index, HB_STR(*patterns))) return true;
    return false;
}

static bool has_wildcard(hb_str name) {
    for (size_t i = 0; i < name.len; i++)
        if (is_one_of(name.ptr[i], "*?[{")) return true;
    return false;
}

static hb_str guarded(const segments *path, purpose purpose) {
    if (path->count == 0 && purpose == REMOVES) return HB_STR("is the project itself");
    for (size_t i = 0; i < path->count; i++) {
        hb_str name = path->names[i];
        // `.g?t` may mean .git, and `.*` even `..`; without the dot neither is meant.
        if (hb_starts_with(name, ".") && has_wildcard(name))
            return HB_STR("has a wildcard in a hidden name; write the name out");
        if (matches_any(path, i, SECRETS) && !matches_any(path, i, NO_SECRETS))
            return HB_STR("may hold secrets; ask for what you need from it");
        if (purpose != READS && matches_any(path, i, PROTECTED))
            return hb_format("is protected: tools must not change %S", folded(name));
    }
    return fine;
}

hb_str path_problem(hb_str given, purpose purpose) {
    if (given.len > LONGEST) return hb_format("has %zu bytes; that is no path", given.len);
    hb_str problem = odd_character(given);
    if (!problem.ptr) problem = odd_escape(given);
    if (problem.ptr) return problem;

    hb_str path = unwrapped(given);
    // What is fetched from the web is for another hook to judge.
    if (is_web_address(path)) return fine;
    problem = elsewhere(path);
    if (problem.ptr) return problem;

    segments all;
    split(path, &all);
    if (all.too_many) return HB_STR("has too many parts to look at");
    problem = outside(&all);
    return problem.ptr ? problem : guarded(&all, purpose);
}
