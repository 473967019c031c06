// The lists that settings.c holds. Each ends with NULL.
#ifndef SETTINGS_H
#define SETTINGS_H

#include "hookbox.h"

extern const char *const ROOTS[],
    *const PATH_KEYS[], *const CHANGING_TOOLS[], *const REMOVING_TOOLS[],
                                                     *const PROTECTED[], *const SECRETS[],
                                                                             *const NO_SECRETS[];

#endif
