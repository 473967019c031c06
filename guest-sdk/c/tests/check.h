/// What the tests of the SDK share: they run on the machine, with the compiler's checks on.
#ifndef HOOKBOX_TESTS_CHECK_H
#define HOOKBOX_TESTS_CHECK_H

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../internal.h"

/// Where a panic goes, and what it said.
extern jmp_buf check_panic;
extern hb_str check_panic_message;

#define check(condition)                                                            \
    do {                                                                            \
        if (!(condition)) {                                                         \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            exit(1);                                                                \
        }                                                                           \
    } while (0)

#define check_text(found, wanted)                                                            \
    do {                                                                                     \
        hb_str check_found = (found);                                                        \
        if (!hb_equal(check_found, wanted)) {                                                \
            fprintf(stderr, "%s:%d: found %.*s\n", __FILE__, __LINE__, (int)check_found.len, \
                    check_found.ptr);                                                        \
            exit(1);                                                                         \
        }                                                                                    \
    } while (0)

#define check_panics(expression, wanted)         \
    do {                                         \
        if (setjmp(check_panic) == 0) {          \
            (void)(expression);                  \
            check(!"should have panicked");      \
        }                                        \
        check_text(check_panic_message, wanted); \
    } while (0)

#endif
