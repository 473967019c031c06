/// What the files of the SDK share among themselves.
#ifndef HOOKBOX_INTERNAL_H
#define HOOKBOX_INTERNAL_H

#include "hookbox.h"

// wasi-libc brings its own heap and string functions; without it the SDK has to.
#if defined(__wasi__) || !defined(__wasm__)
#define HOOKBOX_WITH_LIBC 1
#endif

#ifdef HOOKBOX_WITH_LIBC
#include <string.h>
#else
// By these names the compiler knows what they do, and mostly needs no call.
#define memcpy __builtin_memcpy
#define memmove __builtin_memmove
#define memcmp __builtin_memcmp
#endif

/// Returns memory. Never NULL: a call that cannot have more ends.
void *hb_allocate(size_t size, size_t align);
/// Returns the same bytes with more room behind them, in place where possible.
void *hb_extend(void *old, size_t old_size, size_t align, size_t new_size);

/// Returns the length of the character at the start of valid UTF-8, 0 for anything else.
size_t hb_utf8_length(const char *at, size_t room);
/// Returns how many bytes at the start need no second look: ASCII without quotes,
/// backslashes and control characters.
size_t hb_plain_length(const char *at, size_t room);
/// Writes a character as UTF-8 and returns its length.
size_t hb_utf8_encode(char *to, uint32_t character);

/// Returns a text as valid UTF-8, with U+FFFD in place of every byte that does not fit.
hb_str hb_utf8(hb_str text);
/// Returns a copy as valid UTF-8: authors' texts may lie on a stack that is about to go.
hb_str hb_keep(hb_str text);

/// Text that grows at its end.
typedef struct hb_buffer {
    char *ptr;
    size_t len, room;
} hb_buffer;

void hb_append(hb_buffer *buffer, const char *bytes, size_t count);
void hb_append_char(hb_buffer *buffer, char byte);
void hb_append_int(hb_buffer *buffer, int64_t number);
hb_str hb_buffer_text(const hb_buffer *buffer);

/// How deep JSON may be nested: as deep as the host reads it.
#define HB_MAX_DEPTH 127

enum {
    HBJ_MEMBER = 1,       // a key lies in front of it
    HBJ_ESCAPED = 2,      // the text is as it stood between quotes
    HBJ_KEY_ESCAPED = 4,  // so is the key
    HBJ_PLACED = 8,       // it is the whole or a part of something
};

struct hb_json {
    uint8_t kind;
    uint8_t flags;
    bool truth;
    hb_json *next;
    union {
        hb_str text;  // of strings and numbers
        struct {
            hb_json *first, *last;
        };
    };
};

/// A value with a key. Elements of arrays do without, which keeps them small.
typedef struct hb_member {
    hb_str key;
    hb_json value;
} hb_member;

/// Makes a value outside of any other.
hb_json *hb_new(hb_kind kind);
/// Puts a value behind the last one of a container.
void hb_place(hb_json *container, hb_json *value);
/// Replaces the escapes in what stood between quotes.
hb_str hb_unescape(hb_str raw);

/// Room for any double as decimal text.
#define HB_DOUBLE_ROOM 32
/// Writes a finite double in the fewest digits that read back as the same one.
size_t hb_double_to_text(double value, char *to);
/// Reads the nearest double of a valid JSON number.
double hb_double_from_text(hb_str digits);

/// Fills an error in, if somebody wants it, and returns false.
bool hb_failed(hb_error *error, const char *kind, hb_str message);

/// Does the same for a failure of the contract, which is a case and a text.
#define HB_FAILED(error, failure, names)                                \
    do {                                                                \
        static const char *const kinds[] = names;                       \
        return hb_failed(error, kinds[(failure).tag], (failure).value); \
    } while (0)

#endif
