"""Writes the bindings in C, and a file that confirms their layout."""

from .abi import (
    align,
    is_variant,
    module,
    offsets,
    parameters,
    payload_offset,
    payloads,
    returns_flat,
    same_everywhere,
    size,
)
from .wit import Type, snake

C_TYPES = {
    "bool": "uint8_t",
    "u8": "uint8_t",
    "u16": "uint16_t",
    "u32": "uint32_t",
    "s64": "int64_t",
    "u64": "uint64_t",
    "f64": "double",
    "string": "hb_str",
    "enum": "uint8_t",
}
C_CORE = {"i32": "int32_t", "i64": "int64_t", "f64": "double"}
C_FLAT = {"u32": "uint32_t", "u64": "uint64_t"}


def c_type(t):
    return C_TYPES.get(t.kind) or f"hbw_{t.name}"


def c_cases(t):
    cases = "".join(f"    HBW_{t.name.upper()}_{snake(label).upper()},\n" for label, _ in t.parts)
    return f"enum {{\n{cases}}};"


def c_definition(t):
    if t.kind == "enum":
        return c_cases(t)
    if t.kind == "list":
        return f"typedef struct {{\n    {c_type(t.parts[0][1])} *ptr;\n    size_t len;\n}} {c_type(t)};"
    if not is_variant(t):
        fields = "".join(f"    {c_type(part)} {snake(label)};\n" for label, part in t.parts)
        return f"typedef struct {{\n{fields}}} {c_type(t)};"
    text = ""
    if same_everywhere(t):
        names = ", ".join(f'"{label}"' for label, _ in t.parts)
        text = f"#define HBW_{t.name.upper()}_NAMES {{{names}}}\n"
    elif t.kind == "variant":
        text = c_cases(t) + "\n"
    held = payloads(t)
    if len(held) == 1:
        members = f"    {c_type(held[0][1])} {snake(held[0][0])};\n"
    else:
        inner = "".join(f"        {c_type(part)} {snake(label)};\n" for label, part in held)
        members = f"    union {{\n{inner}    }};\n"
    return f"{text}typedef struct {{\n    uint8_t tag;\n{members}}} {c_type(t)};"


def c_parameters(function):
    written = []
    for name, core, hint in parameters(function):
        if isinstance(hint, Type):
            element = "char" if hint.kind == "string" else c_type(hint.parts[0][1])
            written.append(f"const {element} *{name}")
        elif hint == "size":
            written.append(f"size_t {name}")
        else:
            written.append(f"{C_FLAT.get(hint, C_CORE[core])} {name}")
    return written


def c_function(reader, function):
    written = c_parameters(function)
    name = f"hbw_{function.interface}_{snake(function.name)}"
    exported = function.interface == "handler"
    if exported:
        result = f"{c_type(function.result)} *"
    elif function.result is None:
        result = "void "
    elif returns_flat(function):
        result = f"{C_FLAT.get(function.result.kind, c_type(function.result))} "
    else:
        result = "void "
        written.append(f"{c_type(function.result)} *result")
    place = (
        f'HBW_EXPORT("{module(reader, function)}#{function.name}")'
        if exported
        else (f'HBW_IMPORT("{module(reader, function)}", "{function.name}")')
    )
    return f"{place}\n" + wrapped(f"{result}{name}(", written or ["void"], ");")


C_HEADER = """\
/* The contract on the wire: what the canonical ABI makes of wit/hook.wit.
 *
 * Written by generate.py; change the contract or the generator instead. A type
 * here lies in memory as the host reads and writes it. Hook authors do not need
 * this file: hookbox.h has the same in C's own words. */
// clang-format off
#ifndef HOOKBOX_BINDINGS_H
#define HOOKBOX_BINDINGS_H

#include "hookbox.h"

#ifdef __wasm__
#define HBW_IMPORT(module, name) __attribute__((import_module(module), import_name(name)))
#define HBW_EXPORT(name) __attribute__((export_name(name)))
#else
#define HBW_IMPORT(module, name)
#define HBW_EXPORT(name)
#endif
"""


def write_c(reader, types):
    parts = [C_HEADER]
    parts += [c_definition(t) + "\n" for t in types]
    parts += [c_function(reader, function) + "\n" for function in reader.functions]
    parts.append("#endif\n")
    return "\n".join(parts)


def c_asserts(t):
    name = c_type(t)
    if t.kind == "enum":
        return [
            f'_Static_assert(HBW_{t.name.upper()}_{snake(t.parts[-1][0]).upper()} == {len(t.parts) - 1}, "{t.name}");'
        ]
    lines = [f'_Static_assert(sizeof({name}) == {size(t)} && _Alignof({name}) == {align(t)}, "{t.name}");']
    if t.kind == "list":
        return lines
    if is_variant(t):
        where = [(label, payload_offset(t)) for label, _ in payloads(t)]
    else:
        where = offsets(t)
    return lines + [
        f'_Static_assert(offsetof({name}, {snake(label)}) == {offset}, "{t.name}.{label}");'
        for label, offset in where
    ]


def write_layout(types):
    head = """\
/* Confirms that the C compiler lays the contract's types out as the canonical ABI
 * does. Written by generate.py; compiling it for wasm32 is the test. */
// clang-format off
#include <stddef.h>

#include "../bindings.h"

#ifndef __wasm32__
#error "compile this for wasm32: layouts with pointers of another size prove nothing"
#endif

_Static_assert(sizeof(hb_str) == 8 && _Alignof(hb_str) == 4, "string");
"""
    return head + "\n".join(line for t in types for line in c_asserts(t)) + "\n"


def wrapped(head, items, tail, indent="    "):
    """Returns a list of parameters on one line, or on several if it is long."""
    line = head + ", ".join(items) + tail
    if len(line) <= 100:
        return line
    lines, current = [head], indent
    for index, item in enumerate(items):
        piece = item + ("," if index + 1 < len(items) else tail)
        if current != indent and len(current) + 1 + len(piece) > 100:
            lines.append(current)
            current = indent
        current += piece if current == indent else " " + piece
    return "\n".join(lines + [current])
