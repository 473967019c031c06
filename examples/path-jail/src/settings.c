// What the jail is made of. Change it here and run `hookbox build`.
#include "settings.h"

// Absolute paths are allowed below these directories. Relative ones start at the project.
const char *const ROOTS[] = {"/workspace", "/tmp/agent", NULL};

// Arguments that are paths, in lower case and without `_` and `-`. What ends in `path`,
// `file`, `filename`, `dir` or `directory` is one as well, and so are their plurals.
const char *const PATH_KEYS[] = {"path", "file",   "filename", "dir",         "directory", "folder",
                                 "cwd",  "source", "src",      "destination", "dest",      "target",
                                 "from", "to",     "root",     "glob",        NULL};

// Tools whose name has one of these in it change what they are pointed at.
const char *const CHANGING_TOOLS[] = {"write",  "edit",   "delete",  "move",  "create",
                                      "remove", "rename", "replace", "patch", "append",
                                      "copy",   "save",   NULL};

// Those of them that make what was there go away.
const char *const REMOVING_TOOLS[] = {"delete", "move", "remove", "rename", NULL};

// Places inside the project that no tool may change: what guards the agent, and what
// git runs on its own. Each is the name of a file or a directory, at any depth.
const char *const PROTECTED[] = {".git", ".harness", ".hookbox", "hookbox.toml", NULL};

// Files that hold secrets; no tool may touch them, not even to read. `a/b` is a `b`
// anywhere below an `a`, and a `*` at the end stands for anything.
const char *const SECRETS[] = {".env",   ".env.*",           ".git/config", ".git/credentials",
                               ".netrc", ".git-credentials", NULL};

// Files that only look like secrets.
const char *const NO_SECRETS[] = {".env.example", ".env.sample", ".env.template", NULL};
