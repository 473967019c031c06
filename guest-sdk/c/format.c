/// Text that grows, and hb_format.
#include <stdarg.h>

#include "internal.h"

static void make_room(hb_buffer *buffer, size_t count) {
    size_t wanted, more = buffer->room < 32 ? 64 : buffer->room * 2;
    if (__builtin_add_overflow(buffer->len, count, &wanted)) __builtin_trap();
    if (wanted < more) wanted = more;
    buffer->ptr = hb_extend(buffer->ptr, buffer->room, 1, wanted);
    buffer->room = wanted;
}

void hb_append(hb_buffer *buffer, const char *bytes, size_t count) {
    if (count == 0) return;
    if (count > buffer->room - buffer->len) make_room(buffer, count);
    memcpy(buffer->ptr + buffer->len, bytes, count);
    buffer->len += count;
}

void hb_append_char(hb_buffer *buffer, char byte) {
    if (buffer->len == buffer->room) make_room(buffer, 1);
    buffer->ptr[buffer->len++] = byte;
}

hb_str hb_buffer_text(const hb_buffer *buffer) {
    return hb_span(buffer->ptr ? buffer->ptr : "", buffer->len);
}

static void append_number(hb_buffer *buffer, uint64_t number, unsigned base) {
    char digits[20];
    size_t at = sizeof digits;
    do {
        digits[--at] = "0123456789abcdef"[number % base];
        number /= base;
    } while (number);
    hb_append(buffer, digits + at, sizeof digits - at);
}

void hb_append_int(hb_buffer *buffer, int64_t number) {
    if (number < 0) hb_append_char(buffer, '-');
    append_number(buffer, number < 0 ? 0 - (uint64_t)number : (uint64_t)number, 10);
}

hb_str hb_format(const char *format, ...) {
    hb_buffer made = {0};
    va_list args;
    va_start(args, format);
    for (const char *at = format; *at; at++) {
        const char *plain = at;
        while (*at && *at != '%') at++;
        hb_append(&made, plain, (size_t)(at - plain));
        if (!*at) break;
        hb_str text;
        switch (*++at) {
            case 's':
                text = HB_STR(va_arg(args, const char *));
                hb_append(&made, text.ptr, text.len);
                break;
            case 'S':
                text = va_arg(args, hb_str);
                hb_append(&made, text.ptr, text.len);
                break;
            case 'd': hb_append_int(&made, va_arg(args, int)); break;
            case 'u': append_number(&made, va_arg(args, unsigned), 10); break;
            case 'x': append_number(&made, va_arg(args, unsigned), 16); break;
            case '%': hb_append_char(&made, '%'); break;
            case 'z':
                if (*++at == 'u') {
                    append_number(&made, va_arg(args, size_t), 10);
                    break;
                }
                // fall through
            default: hb_panic("hb_format: only %s, %S, %d, %u, %zu, %x and %% can be written");
        }
    }
    va_end(args);
    return hb_buffer_text(&made);
}
