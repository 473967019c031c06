/// Throws random and mutated JSON at the reader, walks and copies what it takes, and
/// compares doubles with those of the machine's own library. Ends after so many
/// seconds, or at the first difference.
///
///     fuzz [SECONDS [SEED]]
#include <time.h>

#include "check.h"

jmp_buf check_panic;
hb_str check_panic_message;

_Noreturn void(hb_panic)(hb_str message) {
    fprintf(stderr, "panicked: %.*s\n", (int)message.len, message.ptr);
    abort();
}

// Every piece of memory on its own, so that the sanitizer sees each byte too far.
static void **pieces;
static size_t piece_count, piece_room;

void *hb_allocate(size_t size, size_t align) {
    (void)align;
    if (piece_count == piece_room) {
        piece_room = piece_room ? piece_room * 2 : 1024;
        pieces = realloc(pieces, piece_room * sizeof *pieces);
    }
    return pieces[piece_count++] = malloc(size);
}

void *hb_extend(void *old, size_t old_size, size_t align, size_t new_size) {
    void *made = hb_allocate(new_size, align);
    if (old_size) memcpy(made, old, old_size);
    return made;
}

void *hb_alloc(size_t size) { return hb_allocate(size, 16); }

static void free_pieces(void) {
    while (piece_count > 0) free(pieces[--piece_count]);
}

static uint64_t state;

static uint64_t any(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static size_t below(size_t limit) { return (size_t)(any() % limit); }

static char text[4096];
static size_t length;

static void put(const char *bytes, size_t count) {
    if (count > sizeof text - length) count = sizeof text - length;
    memcpy(text + length, bytes, count);
    length += count;
}

static void put_word(const char *word) { put(word, strlen(word)); }

static void put_value(int depth) {
    static const char *const words[] = {
        "null",
        "true",
        "false",
        "0",
        "-0",
        "-1.5e-7",
        "1E+400",
        "123456789012345678901234567890",
        "\"\"",
        "\"a\"",
        "\"\\u0000\"",
        "\"\\ud800\"",
        "\"\\udc00\\ud800\"",
        "\"\\ud83d\\ude00\"",
        "\"\xF0\x9F\x98\x80\"",
        "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"",
        "9223372036854775807",
        "0.1",
        "-9223372036854775808",
        "1e",
        "\"\\u00\"",
        "\"\xED\xA0\x80\"",
        "[",
        "]",
        "{",
        "}",
        ",",
        ":",
        " ",
    };
    size_t choice = below(10);
    if (depth > 0 && choice < 4) {
        bool object = choice < 2;
        put_word(object ? "{" : "[");
        for (size_t i = below(5); i > 0; i--) {
            if (object) put_word(below(2) ? "\"key\":" : "\"\\u006bey\":");
            put_value(depth - 1);
            if (i > 1) put_word(",");
        }
        put_word(object ? "}" : "]");
    } else {
        // Mostly something valid, so that the rest of the text is reached.
        put_word(words[below(below(8) ? 19 : sizeof words / sizeof *words)]);
    }
}

static void put_nested(void) {
    for (size_t i = below(200); i > 0; i--) put_word(below(8) ? "[" : "{\"a\":");
    put_value(1);
    for (size_t i = below(200); i > 0; i--) put_word(below(8) ? "]" : "}");
}

static void mutate(void) {
    for (size_t i = below(4); i > 0 && length > 0; i--) {
        size_t at = below(length);
        switch (below(4)) {
            case 0: text[at] = (char)any(); break;
            case 1: length = at; break;
            case 2: text[at] = "\"\\{}[],:0-eu"[below(12)]; break;
            default: memmove(text + at, text + at + 1, length - at - 1), length--;
        }
    }
}

static void walk(hb_json *value) {
    int64_t integer;
    double real;
    hb_string(value);
    hb_to_int(value, &integer);
    hb_to_double(value, &real);
    check(hb_count(value) == 0 || hb_first(value) != NULL);
    hb_each(item, value) {
        if (hb_kind_of(value) == HB_OBJECT) {
            check(hb_key(item).ptr != NULL);
            check(hb_get(value, hb_key(item)) != NULL);
        }
        walk(item);
    }
}

static void try_text(void) {
    // Without room behind it, so that reading too far is seen.
    char *exact = malloc(length ? length : 1);
    memcpy(exact, text, length);
    hb_json *value, *again;
    hb_error error;
    if (hb_parse(hb_span(exact, length), &value, &error)) {
        hb_str first = hb_write(value);
        check(hb_parse(first, &again, &error));
        check_text(hb_write(again), first);
        walk(value);
        hb_json *list = hb_new_array();
        hb_push(list, hb_get(value, "key"));
        hb_set(list->first->kind == HB_OBJECT ? list->first : hb_new_object(), "key", value);
        if (hb_kind_of(value) == HB_OBJECT) hb_remove(value, "key");
        // Nested in one more level it may be too deep; that panics, and is no fault.
        check(hb_parse(hb_write(value), &again, &error));
    } else {
        check(error.message.len > 0 && value == NULL);
    }
    free(exact);
    free_pieces();
}

static void try_double(void) {
    uint64_t bits = any();
    double value, back;
    memcpy(&value, &bits, sizeof value);
    if (value - value != 0) return;  // JSON has no such number
    hb_str digits = hb_digits(hb_new_double(value));
    char copy[64] = {0};
    check(digits.len < sizeof copy);
    memcpy(copy, digits.ptr, digits.len);
    back = strtod(copy, NULL);
    check(memcmp(&back, &value, sizeof back) == 0);
    back = hb_double_from_text(digits);
    check(memcmp(&back, &value, sizeof back) == 0);
    int written = snprintf(copy, sizeof copy, "%llu.%llue%d", (unsigned long long)any(),
                           (unsigned long long)any(), (int)below(700) - 350);
    check(hb_double_from_text(hb_span(copy, (size_t)written)) == strtod(copy, NULL));
    free_pieces();
}

int main(int argc, char **argv) {
    time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 10);
    state = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    unsigned long rounds = 0;
    for (; rounds % 1024 || time(NULL) < end; rounds++) {
        length = 0;
        if (below(10))
            put_value(6);
        else
            put_nested();
        if (below(2)) mutate();
        try_text();
        if (rounds % 16 == 0) try_double();
    }
    printf("ok: %lu texts\n", rounds);
}
