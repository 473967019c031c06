/// Memory for one call. Nothing is given back: the instance ends with the call.
#include "internal.h"

#ifdef HOOKBOX_WITH_LIBC

#include <stdlib.h>

void *hb_allocate(size_t size, size_t align) {
    (void)align;  // malloc aligns for anything the contract has
    void *made = malloc(size ? size : 1);
    if (!made) __builtin_trap();
    return made;
}

void *hb_extend(void *old, size_t old_size, size_t align, size_t new_size) {
    (void)old_size, (void)align;
    void *made = realloc(old, new_size ? new_size : 1);
    if (!made) __builtin_trap();
    return made;
}

#else

#define PAGE ((size_t)65536)
// Growing costs the host a system call, so small steps are made larger, but not so
// large that a small limit is hit early.
#define LARGEST_STEP ((size_t)16)

extern char __heap_base;  // where the linker's own data ends

static char *top = &__heap_base;
static size_t room;
static bool started;

static void grow(size_t wanted) {
    size_t pages = __builtin_wasm_memory_size(0);
    if (!started) {
        started = true;
        room = pages * PAGE - (size_t)top;
        if (wanted <= room) return;
    }
    size_t missing = (wanted - room - 1) / PAGE + 1;
    size_t step = pages / 4 < LARGEST_STEP ? pages / 4 : LARGEST_STEP;
    size_t more = missing > step ? missing : step;
    // A trap and no message: the host remembers that it refused, and names the limit.
    if (__builtin_wasm_memory_grow(0, more) == (size_t)-1) __builtin_trap();
    room += more * PAGE;
}

void *hb_allocate(size_t size, size_t align) {
    size_t gap = -(size_t)top & (align - 1);
    size_t wanted;
    if (__builtin_add_overflow(size, gap, &wanted)) __builtin_trap();
    if (wanted > room) grow(wanted);
    char *made = top + gap;
    top += wanted;
    room -= wanted;
    return made;
}

void *hb_extend(void *old, size_t old_size, size_t align, size_t new_size) {
    if (new_size <= old_size) return old;
    if (old && (char *)old + old_size == top) {
        hb_allocate(new_size - old_size, 1);
        return old;
    }
    void *made = hb_allocate(new_size, align);
    if (old_size) memcpy(made, old, old_size);
    return made;
}

#endif

void *hb_alloc(size_t size) { return hb_allocate(size, 16); }

#ifdef __wasm__
/// Where the host puts what it hands over.
__attribute__((export_name("cabi_realloc"))) void *hb_cabi_realloc(void *old, size_t old_size,
                                                                   size_t align, size_t new_size);

void *hb_cabi_realloc(void *old, size_t old_size, size_t align, size_t new_size) {
    return old_size ? hb_extend(old, old_size, align, new_size) : hb_allocate(new_size, align);
}
#endif
