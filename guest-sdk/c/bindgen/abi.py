"""The rules of the canonical ABI for a memory of 32 bits: sizes, offsets, and how
values travel as parameters."""

import sys

from . import wit

# The most parameters that travel flat; more would go through memory.
MAX_FLAT_PARAMS = 16

SIZES = {"bool": 1, "u8": 1, "u16": 2, "u32": 4, "s64": 8, "u64": 8, "f64": 8}
FLAT = {"bool": "i32", "u8": "i32", "u16": "i32", "u32": "i32", "s64": "i64", "u64": "i64", "f64": "f64"}


def is_variant(t):
    return t.kind in ("variant", "option", "result")


def align(t):
    if t is None:
        return 1
    if t.kind in SIZES:
        return SIZES[t.kind]
    if t.kind in ("string", "list"):
        return 4
    return max([1] + [align(part) for _, part in t.parts])


def up(offset, to):
    return (offset + to - 1) // to * to


def size(t):
    if t is None:
        return 0
    if t.kind in SIZES:
        return SIZES[t.kind]
    if t.kind in ("string", "list"):
        return 8
    if t.kind == "enum":
        return 1
    if is_variant(t):
        return up(payload_offset(t) + max(size(part) for _, part in t.parts), align(t))
    return up(offsets(t)[-1][1] + size(t.parts[-1][1]), align(t))


def payload_offset(t):
    return up(1, align(t))


def offsets(t):
    at, found = 0, []
    for label, part in t.parts:
        at = up(at, align(part))
        found.append((label, at))
        at += size(part)
    return found


def flatten(t, name):
    """Returns the flat parameters of a value: (name, core type, hint)."""
    if t.kind in SIZES or t.kind == "enum":
        return [(name, FLAT.get(t.kind, "i32"), t.kind)]
    if t.kind in ("string", "list"):
        return [(name, "i32", t), (f"{name}_len", "i32", "size")]
    if not is_variant(t):
        return [flat for label, part in t.parts for flat in flatten(part, f"{name}_{wit.snake(label)}")]
    tag = (f"{name}_tag", "i32", "tag")
    full = [part for _, part in t.parts if part]
    if len(full) == 1:
        return [tag] + flatten(full[0], name)
    joined = []
    for part in full:
        for index, (_, core, _) in enumerate(flatten(part, name)):
            if index == len(joined):
                joined.append(core)
            elif joined[index] != core:
                joined[index] = "i32" if {joined[index], core} == {"i32", "f32"} else "i64"
    return [tag] + [(f"{name}_{index}", core, "joined") for index, core in enumerate(joined)]


def parameters(function):
    flat = []
    for label, part in function.params:
        name = wit.snake(label)
        flat += flatten(part, name)
    if len(flat) > MAX_FLAT_PARAMS:
        sys.exit(
            f"the contract: {function.interface}.{function.name} has more than {MAX_FLAT_PARAMS} flat parameters"
        )
    return flat


def returns_flat(function):
    return function.result is not None and len(flatten(function.result, "r")) == 1


def in_memory(functions):
    """Returns the types that are read from or written to memory, each after what it is made of."""
    found = {}

    def visit(t):
        if t is None or t.kind in SIZES or t.kind == "string":
            return
        for _, part in t.parts:
            visit(part)
        found.setdefault(t.name, t)

    def visit_flat(t):
        """Visits a parameter: only what its lists point to lies in memory."""
        if t is None or t.kind == "enum":
            visit(t)
        elif t.kind == "list":
            visit(t.parts[0][1])
        else:
            for _, part in t.parts:
                visit_flat(part)

    for function in functions:
        for _, part in function.params:
            visit_flat(part)
        visit(function.result)
    return list(found.values())


def same_everywhere(t):
    """Returns the type that all cases of a variant hold, if it is one and the same."""
    held = {part.name if part else None for _, part in t.parts}
    return t.parts[0][1] if t.kind == "variant" and len(held) == 1 else None


def payloads(t):
    """Returns what a variant holds: a label and a type for each member of a union."""
    same = same_everywhere(t)
    return [("value", same)] if same else [(label, part) for label, part in t.parts if part]


def module(reader, function):
    name, version = reader.package
    return f"{name}/{function.interface}@{version}"
