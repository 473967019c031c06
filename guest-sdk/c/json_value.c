/// JSON values: looking into them, and making new ones.
#include "internal.h"

// ---- looking ----

/// Returns the member a value is. Only for values with HBJ_MEMBER.
static hb_member *member_of(const hb_json *value) {
    return (hb_member *)((char *)value - offsetof(hb_member, value));
}

hb_kind hb_kind_of(const hb_json *value) { return value ? (hb_kind)value->kind : HB_NULL; }

static bool is_container(const hb_json *value) {
    return hb_kind_of(value) == HB_ARRAY || hb_kind_of(value) == HB_OBJECT;
}

hb_json *hb_first(const hb_json *value) { return is_container(value) ? value->first : NULL; }

hb_json *hb_next(const hb_json *value) { return value ? value->next : NULL; }

hb_str hb_key(const hb_json *value) {
    if (!value || !(value->flags & HBJ_MEMBER)) return hb_span(NULL, 0);
    hb_member *member = member_of(value);
    if (member->value.flags & HBJ_KEY_ESCAPED) {
        member->key = hb_unescape(member->key);
        member->value.flags &= (uint8_t)~HBJ_KEY_ESCAPED;
    }
    return member->key;
}

hb_json *(hb_get)(const hb_json *object, hb_str key) {
    hb_json *found = NULL;
    if (hb_kind_of(object) != HB_OBJECT) return NULL;
    hb_each(member, object) if (hb_equal(hb_key(member), key)) found = member;
    return found;
}

hb_json *hb_item(const hb_json *array, size_t index) {
    if (hb_kind_of(array) != HB_ARRAY) return NULL;
    hb_each(element, array) if (index-- == 0) return element;
    return NULL;
}

/// Reads the number of an element; HB_NONE if it is none.
static size_t index_of(hb_str digits) {
    size_t index = 0;
    if (digits.len == 0 || digits.len > 9) return HB_NONE;
    for (size_t i = 0; i < digits.len; i++) {
        if (digits.ptr[i] < '0' || digits.ptr[i] > '9') return HB_NONE;
        index = index * 10 + (size_t)(digits.ptr[i] - '0');
    }
    return index;
}

hb_json *(hb_at)(const hb_json *value, hb_str path) {
    hb_json *at = (hb_json *)value;
    while (at) {
        size_t dot = hb_find(path, ".");
        hb_str step = hb_slice(path, 0, dot);
        at = at->kind == HB_ARRAY ? hb_item(at, index_of(step)) : hb_get(at, step);
        if (dot == HB_NONE) break;
        path = hb_slice(path, dot + 1, path.len);
    }
    return at;
}

size_t hb_count(const hb_json *value) {
    size_t count = 0;
    hb_each(item, value) count++;
    return count;
}

hb_str hb_string(const hb_json *value) {
    if (hb_kind_of(value) != HB_STRING) return hb_span(NULL, 0);
    hb_json *string = (hb_json *)value;
    if (string->flags & HBJ_ESCAPED) {
        string->text = hb_unescape(string->text);
        string->flags &= (uint8_t)~HBJ_ESCAPED;
    }
    return string->text;
}

hb_str(hb_string_at)(const hb_json *value, hb_str path) { return hb_string(hb_at(value, path)); }

bool hb_is_true(const hb_json *value) { return hb_kind_of(value) == HB_BOOL && value->truth; }

hb_str hb_digits(const hb_json *value) {
    return hb_kind_of(value) == HB_NUMBER ? value->text : hb_span(NULL, 0);
}

bool hb_to_int(const hb_json *value, int64_t *number) {
    hb_str digits = hb_digits(value);
    bool negative = hb_starts_with(digits, "-");
    int64_t sum = 0;
    if (digits.len == 0) return false;
    for (size_t i = negative; i < digits.len; i++) {
        int digit = digits.ptr[i] - '0';
        if (digit < 0 || digit > 9) return false;
        if (__builtin_mul_overflow(sum, 10, &sum)) return false;
        // Downwards for negative ones: the lowest has no positive twin.
        if (__builtin_add_overflow(sum, negative ? -digit : digit, &sum)) return false;
    }
    *number = sum;
    return true;
}

bool hb_to_double(const hb_json *value, double *number) {
    if (hb_kind_of(value) != HB_NUMBER) return false;
    *number = hb_double_from_text(value->text);
    return true;
}

// ---- making ----

hb_json *hb_new(hb_kind kind) {
    // With room for a key, should it become a member.
    hb_member *made = hb_allocate(sizeof *made, _Alignof(hb_member));
    made->value = (hb_json){.kind = (uint8_t)kind};
    return &made->value;
}

hb_json *hb_new_null(void) { return hb_new(HB_NULL); }

hb_json *hb_new_array(void) { return hb_new(HB_ARRAY); }

hb_json *hb_new_object(void) { return hb_new(HB_OBJECT); }

hb_json *hb_new_bool(bool value) {
    hb_json *made = hb_new(HB_BOOL);
    made->truth = value;
    return made;
}

hb_json *hb_new_int(int64_t value) {
    hb_buffer digits = {0};
    hb_append_int(&digits, value);
    hb_json *made = hb_new(HB_NUMBER);
    made->text = hb_buffer_text(&digits);
    return made;
}

hb_json *hb_new_double(double value) {
    if (!__builtin_isfinite(value)) return hb_new_null();
    char digits[HB_DOUBLE_ROOM];
    hb_buffer text = {0};
    hb_append(&text, digits, hb_double_to_text(value, digits));
    hb_json *made = hb_new(HB_NUMBER);
    made->text = hb_buffer_text(&text);
    return made;
}

hb_json *hb_new_number(hb_number value) {
    return value.is_real ? hb_new_double(value.real) : hb_new_int(value.integer);
}

hb_json *(hb_new_string)(hb_str text) {
    hb_json *made = hb_new(HB_STRING);
    made->text = hb_keep(text);
    return made;
}

hb_json *(hb_new_raw)(hb_str json) {
    hb_json *made;
    hb_error error;
    if (!hb_parse(json, &made, &error)) hb_panic(hb_format("hb_new_raw: %S", error.message));
    return made;
}

// ---- changing ----

static void become_member(hb_json *value, hb_str key) {
    member_of(value)->key = key;
    value->flags |= HBJ_MEMBER | HBJ_PLACED;
}

void hb_place(hb_json *container, hb_json *value) {
    if (container->last)
        container->last->next = value;
    else
        container->first = value;
    container->last = value;
}

/// Copies a value with all that it holds. One that holds itself has no end.
static hb_json *copy(const hb_json *value, size_t depth) {
    if (depth > HB_MAX_DEPTH) hb_panic("a JSON value is nested more than 127 levels deep");
    hb_json *made = hb_new((hb_kind)value->kind);
    made->flags = value->flags & HBJ_ESCAPED;
    made->truth = value->truth;
    if (!is_container(value)) {
        made->text = value->text;
        return made;
    }
    hb_each(item, value) {
        hb_json *part = copy(item, depth + 1);
        if (value->kind == HB_OBJECT) become_member(part, hb_key(item));
        hb_place(made, part);
    }
    return made;
}

/// Returns a value that can be placed: itself, or a copy if it has a place.
static hb_json *placeable(hb_json *value) {
    if (!value) value = hb_new_null();
    if (value->flags & HBJ_PLACED) value = copy(value, 0);
    value->flags |= HBJ_PLACED;
    return value;
}

void(hb_set)(hb_json *object, hb_str key, hb_json *value) {
    if (hb_kind_of(object) != HB_OBJECT) hb_panic("hb_set: not an object");
    hb_json *made = placeable(value);
    key = hb_keep(key);
    become_member(made, key);
    hb_json *old = hb_get(object, key);
    if (!old) {
        hb_place(object, made);
        return;
    }
    // In the old one's place, so that the order of the keys stays.
    hb_json **link = &object->first;
    while (*link != old) link = &(*link)->next;
    *link = made;
    made->next = old->next;
    if (object->last == old) object->last = made;
}

bool(hb_remove)(hb_json *object, hb_str key) {
    bool found = false;
    hb_json *before = NULL;
    if (hb_kind_of(object) != HB_OBJECT) return false;
    hb_each(member, object) {
        if (!hb_equal(hb_key(member), key)) {
            before = member;
            continue;
        }
        if (before)
            before->next = member->next;
        else
            object->first = member->next;
        if (object->last == member) object->last = before;
        found = true;
    }
    return found;
}

void hb_push(hb_json *array, hb_json *value) {
    if (hb_kind_of(array) != HB_ARRAY) hb_panic("hb_push: not an array");
    hb_place(array, placeable(value));
}
