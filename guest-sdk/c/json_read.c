/// Reads JSON text into values. Strings keep their escapes until somebody looks at
/// them, numbers keep their digits.
#include "internal.h"

typedef struct reader {
    const char *start, *at, *end;
    const char *problem;  // what was expected, once something went wrong
} reader;

static bool wrong(reader *in, const char *expected) {
    in->problem = expected;
    return false;
}

static bool next_is(const reader *in, char byte) { return in->at < in->end && *in->at == byte; }

static void skip_space(reader *in) {
    while (in->at < in->end &&
           (*in->at == ' ' || *in->at == '\n' || *in->at == '\r' || *in->at == '\t'))
        in->at++;
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/// Reads the four digits of a \u escape; -1 if there are none.
static int32_t hex_quad(const char *at, const char *end) {
    if (end - at < 4) return -1;
    int32_t unit = 0;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(at[i]);
        if (digit < 0) return -1;
        unit = unit << 4 | digit;
    }
    return unit;
}

static bool is_high(int32_t unit) { return unit >= 0xD800 && unit <= 0xDBFF; }
static bool is_low(int32_t unit) { return unit >= 0xDC00 && unit <= 0xDFFF; }

/// Reads the character of an escape whose `\u` was read. A surrogate without its
/// other half is no character and becomes U+FFFD.
static uint32_t escaped_character(const char **at, const char *end) {
    int32_t unit = hex_quad(*at, end);
    *at += 4;
    if (is_high(unit) && end - *at >= 6 && (*at)[0] == '\\' && (*at)[1] == 'u') {
        int32_t low = hex_quad(*at + 2, end);
        if (is_low(low)) {
            *at += 6;
            return 0x10000u + ((uint32_t)(unit - 0xD800) << 10) + (uint32_t)(low - 0xDC00);
        }
    }
    return is_high(unit) || is_low(unit) ? 0xFFFD : (uint32_t)unit;
}

hb_str hb_unescape(hb_str raw) {
    // No escape is shorter than what it stands for.
    char *made = hb_allocate(raw.len, 1), *to = made;
    const char *at = raw.ptr, *end = raw.ptr + raw.len;
    while (at < end) {
        if (*at != '\\') {
            *to++ = *at++;
            continue;
        }
        at++;
        switch (*at++) {
            case 'b': *to++ = '\b'; break;
            case 'f': *to++ = '\f'; break;
            case 'n': *to++ = '\n'; break;
            case 'r': *to++ = '\r'; break;
            case 't': *to++ = '\t'; break;
            case 'u': to += hb_utf8_encode(to, escaped_character(&at, end)); break;
            default: *to++ = at[-1];
        }
    }
    return hb_span(made, (size_t)(to - made));
}

static bool read_escape(reader *in, bool *lone) {
    static const char plain[] = "\"\\/bfnrt";
    if (++in->at == in->end) return wrong(in, "the rest of an escape");
    char kind = *in->at;
    if (kind != 'u') {
        for (const char *known = plain; *known; known++)
            if (kind == *known) return in->at++, true;
        return wrong(in, "one of the escapes JSON has");
    }
    const char *at = in->at + 1;
    if (hex_quad(at, in->end) < 0) return wrong(in, "four hexadecimal digits");
    if (escaped_character(&at, in->end) == 0xFFFD) *lone = true;
    in->at = at;
    return true;
}

/// Reads a string. The text is what stands between the quotes, and `escaped` says
/// whether that is what it means.
static bool read_string(reader *in, hb_str *text, bool *escaped) {
    const char *start = ++in->at;
    bool lone = false;
    *escaped = false;
    for (;;) {
        in->at += hb_plain_length(in->at, (size_t)(in->end - in->at));
        if (in->at == in->end) return wrong(in, "the end of a string");
        unsigned char byte = (unsigned char)*in->at;
        if (byte == '"') break;
        if (byte < 0x20) return wrong(in, "an escape instead of a control character");
        if (byte == '\\') {
            *escaped = true;
            if (!read_escape(in, &lone)) return false;
            continue;
        }
        size_t length = hb_utf8_length(in->at, (size_t)(in->end - in->at));
        if (length == 0) return wrong(in, "UTF-8");
        in->at += length;
    }
    *text = hb_span(start, (size_t)(in->at++ - start));
    if (lone) {
        // Written out again as it stands, no other reader would take it.
        *text = hb_unescape(*text);
        *escaped = false;
    }
    return true;
}

static bool skip_digits(reader *in) {
    const char *start = in->at;
    while (in->at < in->end && *in->at >= '0' && *in->at <= '9') in->at++;
    return in->at > start || wrong(in, "a digit");
}

static bool read_number(reader *in, hb_json *number) {
    const char *start = in->at;
    if (next_is(in, '-')) in->at++;
    if (next_is(in, '0'))
        in->at++;
    else if (!skip_digits(in))
        return false;
    if (next_is(in, '.')) {
        in->at++;
        if (!skip_digits(in)) return false;
    }
    if (next_is(in, 'e') || next_is(in, 'E')) {
        in->at++;
        if (next_is(in, '+') || next_is(in, '-')) in->at++;
        if (!skip_digits(in)) return false;
    }
    number->kind = HB_NUMBER;
    number->text = hb_span(start, (size_t)(in->at - start));
    return true;
}

static bool read_word(reader *in, const char *word) {
    hb_str rest = hb_span(in->at, (size_t)(in->end - in->at));
    if (!hb_starts_with(rest, word)) return wrong(in, "a value");
    in->at += hb_c_str(word).len;
    return true;
}

/// Reads a value into its place; of an array or object only the bracket that opens it.
static bool read_value(reader *in, hb_json *value) {
    skip_space(in);
    if (in->at == in->end) return wrong(in, "a value");
    switch (*in->at) {
        case '{':
        case '[': value->kind = *in->at++ == '{' ? HB_OBJECT : HB_ARRAY; return true;
        case '"': {
            bool escaped;
            value->kind = HB_STRING;
            if (!read_string(in, &value->text, &escaped)) return false;
            if (escaped) value->flags |= HBJ_ESCAPED;
            return true;
        }
        case 't':
            value->kind = HB_BOOL;
            value->truth = true;
            return read_word(in, "true");
        case 'f': value->kind = HB_BOOL; return read_word(in, "false");
        case 'n': return read_word(in, "null");
        default:
            if (*in->at != '-' && (*in->at < '0' || *in->at > '9')) return wrong(in, "a value");
            return read_number(in, value);
    }
}

static hb_json *read_member(reader *in) {
    hb_member *member = hb_allocate(sizeof *member, _Alignof(hb_member));
    member->value = (hb_json){.flags = HBJ_MEMBER | HBJ_PLACED};
    bool escaped;
    skip_space(in);
    if (!next_is(in, '"')) return wrong(in, "a key in quotes"), NULL;
    if (!read_string(in, &member->key, &escaped)) return NULL;
    if (escaped) member->value.flags |= HBJ_KEY_ESCAPED;
    skip_space(in);
    if (!next_is(in, ':')) return wrong(in, "a colon"), NULL;
    in->at++;
    return read_value(in, &member->value) ? &member->value : NULL;
}

static hb_json *read_element(reader *in) {
    hb_json *element = hb_allocate(sizeof *element, _Alignof(hb_json));
    *element = (hb_json){.flags = HBJ_PLACED};
    return read_value(in, element) ? element : NULL;
}

static bool is_container(const hb_json *value) {
    return value->kind == HB_ARRAY || value->kind == HB_OBJECT;
}

/// Reads all there is, with a stack of its own: the depth of a text must not be the
/// depth of the calls.
static hb_json *read_all(reader *in) {
    hb_json *open[HB_MAX_DEPTH];
    size_t depth = 0;
    hb_json *root = read_element(in);
    if (root && is_container(root)) open[depth++] = root;
    while (root && depth > 0) {
        hb_json *container = open[depth - 1];
        bool object = container->kind == HB_OBJECT;
        skip_space(in);
        if (next_is(in, object ? '}' : ']')) {
            in->at++;
            depth--;
            continue;
        }
        if (container->first) {
            if (!next_is(in, ',')) return wrong(in, object ? "a comma or }" : "a comma or ]"), NULL;
            in->at++;
        }
        hb_json *value = object ? read_member(in) : read_element(in);
        if (!value) return NULL;
        hb_place(container, value);
        if (!is_container(value)) continue;
        if (depth == HB_MAX_DEPTH) return wrong(in, "at most 127 levels"), NULL;
        open[depth++] = value;
    }
    return root;
}

bool(hb_parse)(hb_str text, hb_json **value, hb_error *error) {
    // A text of no bytes may have no place either.
    const char *start = text.ptr ? text.ptr : "";
    reader in = {start, start, start + text.len, NULL};
    *value = read_all(&in);
    if (*value) {
        skip_space(&in);
        if (in.at == in.end) return true;
        wrong(&in, "nothing more");
        *value = NULL;
    }
    return hb_failed(error, "invalid-json",
                     hb_format("expected %s at byte %zu", in.problem, (size_t)(in.at - in.start)));
}
