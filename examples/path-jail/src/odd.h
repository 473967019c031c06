// Characters and escapes that have no place in a path.
#ifndef ODD_H
#define ODD_H

#include "hookbox.h"

// Returns what is wrong with the characters of a path; none if nothing is.
hb_str odd_character(hb_str path);

// Returns what is wrong with the percent signs of a path; none if nothing is.
hb_str odd_escape(hb_str path);

#endif
