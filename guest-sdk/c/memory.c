/// The functions a C compiler calls on its own, for hooks without a C library. They
/// are weak: an author's own, or a library's, take their place.
#include "internal.h"

#ifndef HOOKBOX_WITH_LIBC
#undef memcpy
#undef memmove
#undef memcmp

void *memcpy(void *restrict to, const void *restrict from, size_t count);
void *memmove(void *to, const void *from, size_t count);
void *memset(void *to, int byte, size_t count);
int memcmp(const void *a, const void *b, size_t count);
size_t strlen(const char *text);

// With instructions for it the compiler makes one of each call below. Without, it must
// not take a loop that copies for a call of the function it stands in.
#ifdef __wasm_bulk_memory__
#define WEAK __attribute__((weak))
#else
#define WEAK __attribute__((weak, no_builtin))
#endif

WEAK void *memcpy(void *restrict to, const void *restrict from, size_t count) {
#ifdef __wasm_bulk_memory__
    return __builtin_memcpy(to, from, count);
#else
    for (size_t i = 0; i < count; i++) ((char *)to)[i] = ((const char *)from)[i];
    return to;
#endif
}

WEAK void *memmove(void *to, const void *from, size_t count) {
#ifdef __wasm_bulk_memory__
    return __builtin_memmove(to, from, count);
#else
    if ((uintptr_t)to < (uintptr_t)from)
        for (size_t i = 0; i < count; i++) ((char *)to)[i] = ((const char *)from)[i];
    else
        for (size_t i = count; i > 0; i--) ((char *)to)[i - 1] = ((const char *)from)[i - 1];
    return to;
#endif
}

WEAK void *memset(void *to, int byte, size_t count) {
#ifdef __wasm_bulk_memory__
    return __builtin_memset(to, byte, count);
#else
    for (size_t i = 0; i < count; i++) ((char *)to)[i] = (char)byte;
    return to;
#endif
}

__attribute__((weak, no_builtin)) int memcmp(const void *a, const void *b, size_t count) {
    for (size_t i = 0; i < count; i++) {
        int difference = ((const unsigned char *)a)[i] - ((const unsigned char *)b)[i];
        if (difference) return difference;
    }
    return 0;
}

__attribute__((weak, no_builtin)) size_t strlen(const char *text) {
    size_t length = 0;
    while (text[length]) length++;
    return length;
}

/// Multiplies, for products of 64 bits that are checked for overflow.
__extension__ typedef __int128 wide;

wide __multi3(wide a, wide b);

// Optimised, the compiler would see what this does and call it.
__attribute__((weak, noinline, optnone)) wide __multi3(wide a, wide b) {
    __extension__ typedef unsigned __int128 bits;
    uint64_t a_low = (uint64_t)a, b_low = (uint64_t)b;
    uint64_t a_high = (uint64_t)((bits)a >> 64), b_high = (uint64_t)((bits)b >> 64);
    uint64_t a0 = a_low & UINT32_MAX, a1 = a_low >> 32, b0 = b_low & UINT32_MAX, b1 = b_low >> 32;
    uint64_t middle = a1 * b0 + (a0 * b0 >> 32);
    uint64_t other = a0 * b1 + (middle & UINT32_MAX);
    uint64_t high = a1 * b1 + (middle >> 32) + (other >> 32) + a_low * b_high + a_high * b_low;
    return (wide)((bits)high << 64 | a_low * b_low);
}

#endif
