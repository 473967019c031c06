// What a path means, and whether it stays in the jail.
#ifndef PATH_H
#define PATH_H

#include "hookbox.h"

// What a tool does to what it is pointed at.
typedef enum purpose { READS, CHANGES, REMOVES } purpose;

// Returns why a tool must not be pointed at a path; none if it may.
hb_str path_problem(hb_str path, purpose purpose);

#endif
