#include "odd.h"

typedef struct range {
    uint32_t first, last;
    const char *what;
} range;

// What some layer below may drop, or take for a character that means something. The
// eye cannot tell these from what they stand for, and a reviewer has to.
static const range ODD[] = {
    {0x0000, 0x001F, "a control character"},
    {0x007F, 0x009F, "a control character"},
    {0x00AD, 0x00AD, "an invisible character"},
    {0x061C, 0x061C, "an invisible character"},
    {0x180E, 0x180E, "an invisible character"},
    {0x200B, 0x200F, "an invisible character"},
    {0x2024, 0x2024, "a character that looks like ."},
    {0x2025, 0x2025, "a character that looks like .."},
    {0x2028, 0x202E, "an invisible character"},
    {0x2044, 0x2044, "a character that looks like /"},
    {0x2060, 0x206F, "an invisible character"},
    {0x2215, 0x2215, "a character that looks like /"},
    {0x2216, 0x2216, "a character that looks like \\"},
    {0x2571, 0x2571, "a character that looks like /"},
    {0x2572, 0x2572, "a character that looks like \\"},
    {0x29F5, 0x29F5, "a character that looks like \\"},
    {0x29F6, 0x29F6, "a character that looks like /"},
    {0x29F8, 0x29F8, "a character that looks like /"},
    {0x29F9, 0x29F9, "a character that looks like \\"},
    {0xFE52, 0xFE52, "a character that looks like ."},
    {0xFE68, 0xFE68, "a character that looks like \\"},
    {0xFE6A, 0xFE6A, "a character that looks like %"},
    {0xFEFF, 0xFEFF, "an invisible character"},
    {0xFF05, 0xFF05, "a character that looks like %"},
    {0xFF0E, 0xFF0E, "a character that looks like ."},
    {0xFF0F, 0xFF0F, "a character that looks like /"},
    {0xFF3C, 0xFF3C, "a character that looks like \\"},
    {0xFF5E, 0xFF5E, "a character that looks like ~"},
    {0xE0000, 0xE007F, "an invisible character"},
};

// Reads the next character. Texts of the host are valid UTF-8.
static uint32_t next_character(hb_str text, size_t *at) {
    unsigned char first = (unsigned char)text.ptr[(*at)++];
    if (first < 0x80) return first;
    int more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : 1;
    uint32_t character = first & (0x3Fu >> more);
    for (; more > 0 && *at < text.len; more--)
        character = character << 6 | ((unsigned char)text.ptr[(*at)++] & 0x3Fu);
    return character;
}

hb_str odd_character(hb_str path) {
    for (size_t at = 0; at < path.len;) {
        uint32_t character = next_character(path, &at);
        for (size_t i = 0; i < sizeof ODD / sizeof *ODD; i++)
            if (character >= ODD[i].first && character <= ODD[i].last)
                return hb_format("has %s (U+%x)", ODD[i].what, character);
    }
    return hb_span(NULL, 0);
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    c |= 0x20;  // to lower case
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

hb_str odd_escape(hb_str path) {
    for (size_t i = 0; i + 2 < path.len; i++) {
        if (path.ptr[i] != '%') continue;
        hb_str escape = hb_slice(path, i, i + 3);
        int high = hex_digit(escape.ptr[1]), low = hex_digit(escape.ptr[2]);
        // Some servers take %u002e for a dot.
        if ((escape.ptr[1] | 0x20) == 'u' && low >= 0)
            return hb_format("hides a character behind %S", escape);
        if (high < 0 || low < 0) continue;
        char c = (char)(high << 4 | low);
        bool means_something = hb_contains("./\\~%", hb_span(&c, 1));
        // Above 0x7F start the forms that are longer than they have to be.
        if (means_something || high < 2 || high > 7)
            return hb_format("hides a character behind %S", escape);
    }
    return hb_span(NULL, 0);
}
