/// Texts: comparing, cutting, and UTF-8.
#include "internal.h"

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c; }

static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

bool(hb_equal)(hb_str a, hb_str b) {
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

bool(hb_equal_nocase)(hb_str a, hb_str b) {
    if (a.len != b.len) return false;
    for (size_t i = 0; i < a.len; i++)
        if (lower(a.ptr[i]) != lower(b.ptr[i])) return false;
    return true;
}

bool(hb_starts_with)(hb_str text, hb_str start) {
    return start.len <= text.len && hb_equal(hb_span(text.ptr, start.len), start);
}

bool(hb_ends_with)(hb_str text, hb_str end) {
    return end.len <= text.len && hb_equal(hb_slice(text, text.len - end.len, text.len), end);
}

size_t(hb_find)(hb_str text, hb_str part) {
    if (part.len == 0) return 0;
    if (part.len > text.len) return HB_NONE;
    for (size_t i = 0; i <= text.len - part.len; i++)
        if (text.ptr[i] == part.ptr[0] && memcmp(text.ptr + i, part.ptr, part.len) == 0) return i;
    return HB_NONE;
}

bool(hb_contains)(hb_str text, hb_str part) { return hb_find(text, part) != HB_NONE; }

hb_str(hb_slice)(hb_str text, size_t from, size_t to) {
    if (to > text.len) to = text.len;
    if (from > to) from = to;
    // Nothing is added to a pointer to nothing.
    return from == 0 ? hb_span(text.ptr, to) : hb_span(text.ptr + from, to - from);
}

hb_str(hb_trim)(hb_str text) {
    size_t from = 0, to = text.len;
    while (from < to && is_space(text.ptr[from])) from++;
    while (to > from && is_space(text.ptr[to - 1])) to--;
    return hb_slice(text, from, to);
}

hb_str(hb_lower)(hb_str text) {
    char *made = hb_allocate(text.len, 1);
    for (size_t i = 0; i < text.len; i++) made[i] = lower(text.ptr[i]);
    return hb_span(made, text.len);
}

hb_str(hb_truncate)(hb_str text, size_t most) {
    if (text.len <= most) return text;
    while (most > 0 && ((unsigned char)text.ptr[most] & 0xC0) == 0x80) most--;
    return hb_span(text.ptr, most);
}

size_t hb_utf8_length(const char *at, size_t room) {
    const unsigned char *byte = (const unsigned char *)at;
    if (room == 0) return 0;
    if (byte[0] < 0x80) return 1;
    // What may follow the first byte: no overlong forms, no surrogates, nothing over U+10FFFF.
    size_t length = byte[0] < 0xE0 ? 2 : byte[0] < 0xF0 ? 3 : 4;
    unsigned char lowest = byte[0] == 0xE0 ? 0xA0 : byte[0] == 0xF0 ? 0x90 : 0x80;
    unsigned char highest = byte[0] == 0xED ? 0x9F : byte[0] == 0xF4 ? 0x8F : 0xBF;
    if (byte[0] < 0xC2 || byte[0] > 0xF4 || length > room) return 0;
    if (byte[1] < lowest || byte[1] > highest) return 0;
    for (size_t i = 2; i < length; i++)
        if ((byte[i] & 0xC0) != 0x80) return 0;
    return length;
}

size_t hb_utf8_encode(char *to, uint32_t character) {
    if (character < 0x80) {
        to[0] = (char)character;
        return 1;
    }
    size_t length = character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
    static const unsigned char marks[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (size_t i = length - 1; i > 0; i--) {
        to[i] = (char)(0x80 | (character & 0x3F));
        character >>= 6;
    }
    to[0] = (char)(marks[length] | character);
    return length;
}

#define EACH_BYTE(byte) (0x0101010101010101u * (byte))

/// Says whether any of eight bytes is one that JSON has to look at: a quote, a
/// backslash, a control character, or a part of a character that is not ASCII.
static bool any_special(uint64_t eight) {
    uint64_t quote = eight ^ EACH_BYTE('"'), backslash = eight ^ EACH_BYTE('\\');
    // Taking one away sets the highest bit of a byte that was zero. It may set that of
    // the byte behind it as well, which does no harm: this only says whether to look closer.
    uint64_t found =
        (quote - EACH_BYTE(1)) | (backslash - EACH_BYTE(1)) | (eight - EACH_BYTE(0x20));
    return (found | eight) & EACH_BYTE(0x80);
}

size_t hb_plain_length(const char *at, size_t room) {
    size_t length = 0;
    for (uint64_t eight; room - length >= sizeof eight; length += sizeof eight) {
        memcpy(&eight, at + length, sizeof eight);
        if (any_special(eight)) break;
    }
    for (; length < room; length++) {
        unsigned char byte = (unsigned char)at[length];
        if (byte < 0x20 || byte >= 0x80 || byte == '"' || byte == '\\') break;
    }
    return length;
}

hb_str hb_utf8(hb_str text) {
    size_t valid = 0, length;
    if (text.len == 0) return hb_span("", 0);
    do {
        valid += hb_plain_length(text.ptr + valid, text.len - valid);
        length = hb_utf8_length(text.ptr + valid, text.len - valid);
        valid += length;
    } while (length > 0);
    if (valid == text.len) return text;
    hb_buffer made = {0};
    hb_append(&made, text.ptr, valid);
    for (size_t at = valid; at < text.len; at += length ? length : 1) {
        length = hb_utf8_length(text.ptr + at, text.len - at);
        hb_append(&made, length ? text.ptr + at : "\xEF\xBF\xBD", length ? length : 3);
    }
    return hb_buffer_text(&made);
}

hb_str hb_keep(hb_str text) {
    hb_str valid = hb_utf8(text);
    if (valid.ptr != text.ptr || valid.len == 0) return valid;
    char *made = hb_allocate(valid.len, 1);
    memcpy(made, valid.ptr, valid.len);
    return hb_span(made, valid.len);
}
