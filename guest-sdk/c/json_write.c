/// Writes JSON values as text.
#include "internal.h"

static void write_escape(hb_buffer *out, unsigned char byte) {
    static const char short_forms[] = "\bb\ff\nn\rr\tt\"\"\\\\";
    for (const char *form = short_forms; *form; form += 2) {
        if ((unsigned char)*form != byte) continue;
        hb_append_char(out, '\\');
        hb_append_char(out, form[1]);
        return;
    }
    hb_append(out, "\\u00", 4);
    hb_append_char(out, "0123456789abcdef"[byte >> 4]);
    hb_append_char(out, "0123456789abcdef"[byte & 15]);
}

static void write_string(hb_buffer *out, hb_str text) {
    size_t written = 0, at = 0;
    hb_append_char(out, '"');
    while (at < text.len) {
        at += hb_plain_length(text.ptr + at, text.len - at);
        if (at == text.len) break;
        unsigned char byte = (unsigned char)text.ptr[at++];
        if (byte >= 0x80) continue;
        hb_append(out, text.ptr + written, at - 1 - written);
        write_escape(out, byte);
        written = at;
    }
    hb_append(out, text.ptr + written, at - written);
    hb_append_char(out, '"');
}

static void write_raw_string(hb_buffer *out, hb_str raw) {
    hb_append_char(out, '"');
    hb_append(out, raw.ptr, raw.len);
    hb_append_char(out, '"');
}

static void write_value(hb_buffer *out, const hb_json *value, size_t depth);

static void write_container(hb_buffer *out, const hb_json *value, size_t depth) {
    bool object = value->kind == HB_OBJECT;
    if (depth == HB_MAX_DEPTH) hb_panic("a JSON value is nested more than 127 levels deep");
    hb_append_char(out, object ? '{' : '[');
    hb_each(item, value) {
        if (item != value->first) hb_append_char(out, ',');
        if (object) {
            write_string(out, hb_key(item));
            hb_append_char(out, ':');
        }
        write_value(out, item, depth + 1);
    }
    hb_append_char(out, object ? '}' : ']');
}

static void write_value(hb_buffer *out, const hb_json *value, size_t depth) {
    switch (hb_kind_of(value)) {
        case HB_NULL: hb_append(out, "null", 4); break;
        case HB_BOOL:
            if (value->truth)
                hb_append(out, "true", 4);
            else
                hb_append(out, "false", 5);
            break;
        case HB_NUMBER: hb_append(out, value->text.ptr, value->text.len); break;
        case HB_STRING:
            if (value->flags & HBJ_ESCAPED)
                write_raw_string(out, value->text);
            else
                write_string(out, value->text);
            break;
        case HB_ARRAY:
        case HB_OBJECT: write_container(out, value, depth); break;
    }
}

hb_str hb_write(const hb_json *value) {
    hb_buffer out = {0};
    write_value(&out, value, 0);
    return hb_buffer_text(&out);
}
