"""Writes the bindings in Zig, which confirm their layout themselves."""

import re

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

ZIG_TYPES = {
    "bool": "u8",
    "u8": "u8",
    "u16": "u16",
    "u32": "u32",
    "s64": "i64",
    "u64": "u64",
    "f64": "f64",
    "string": "String",
}
ZIG_FLAT = {"u32": "u32", "u64": "u64", "tag": "u32", "enum": "u32", "bool": "u32", "u8": "u32", "u16": "u32"}
ZIG_CORE = {"i32": "i32", "i64": "i64", "f64": "f64"}


def pascal(name):
    return "".join(word[:1].upper() + word[1:] for word in re.split(r"[_\-]", name))


def zig_type(t):
    return ZIG_TYPES.get(t.kind) or pascal(t.name)


def zig_name(label):
    return label if re.fullmatch(r"[a-z_0-9]+", label) and label != "error" else f'@"{label}"'


def zig_definition(t):
    name = zig_type(t)
    if t.kind == "enum":
        cases = ", ".join(zig_name(snake(label)) for label, _ in t.parts)
        return f"pub const {name} = enum(u8) {{ {cases} }};"
    if t.kind == "list":
        return f"pub const {name} = List({zig_type(t.parts[0][1])});"
    if not is_variant(t):
        fields = "".join(f"    {zig_name(snake(label))}: {zig_type(part)},\n" for label, part in t.parts)
        return f"pub const {name} = extern struct {{\n{fields}}};"
    held = payloads(t)
    if len(held) == 1:
        payload = zig_type(held[0][1])
    else:
        inner = "".join(f"        {zig_name(snake(label))}: {zig_type(part)},\n" for label, part in held)
        payload = f"extern union {{\n{inner}    }}"
    kinds = ""
    if same_everywhere(t):
        names = ", ".join(f'"{label}"' for label, _ in t.parts)
        one = len(t.parts) == 1
        kinds = "\n    /// The names of the cases, by tag.\n"
        kinds += (
            f"    pub const names = [_][]const u8{{{names}}};\n"
            if one
            else f"    pub const names = [_][]const u8{{ {names} }};\n"
        )
    return f"pub const {name} = extern struct {{\n    tag: u8,\n    payload: {payload},\n{kinds}}};"


def zig_parameters(function):
    written = []
    for name, core, hint in parameters(function):
        if isinstance(hint, Type):
            element = "u8" if hint.kind == "string" else zig_type(hint.parts[0][1])
            written.append(f"{name}: [*]const {element}")
        elif hint == "size":
            written.append(f"{name}: usize")
        elif hint == "joined":
            written.append(f"{name}: {ZIG_CORE[core]}")
        else:
            written.append(f"{name}: {ZIG_FLAT.get(hint, ZIG_CORE[core])}")
    return written


def zig_function(reader, function):
    written = zig_parameters(function)
    if function.result is None:
        result = "void"
    elif returns_flat(function):
        result = ZIG_FLAT.get(function.result.kind, zig_type(function.result))
    else:
        result = "void"
        written.append(f"result: *{zig_type(function.result)}")
    return f'    pub extern "{module(reader, function)}" fn {zig_name(function.name)}({", ".join(written)}) {result};'


ZIG_HEADER = """\
//! The contract on the wire: what the canonical ABI makes of wit/hook.wit.
//!
//! Written by guest-sdk/c/generate.py; change the contract or the generator instead.
//! A type here lies in memory as the host reads and writes it. Hook authors do not
//! need this file: hookbox.zig has the same in Zig's own words.

const std = @import("std");

/// A list or a string as a pointer and a length.
pub fn List(comptime T: type) type {
    return extern struct {
        ptr: [*]const T,
        len: usize,

        /// Returns the slice to hand over. One without items may point nowhere in Zig,
        /// but not in the contract.
        pub fn from(items: []const T) @This() {
            return .{ .ptr = if (items.len == 0) @ptrFromInt(@alignOf(T)) else items.ptr, .len = items.len };
        }

        /// Returns what was handed over.
        pub fn slice(list: @This()) []const T {
            return list.ptr[0..list.len];
        }
    };
}

pub const String = List(u8);

/// Calls an import, with each slice as a pointer and a length.
pub fn call(comptime import: anytype, args: anytype) @typeInfo(@TypeOf(import)).@"fn".return_type.? {
    var flat: std.meta.ArgsTuple(@TypeOf(import)) = undefined;
    comptime var at = 0;
    inline for (args) |arg| {
        if (comptime elementOfSlice(@TypeOf(arg))) |T| {
            const list: List(T) = .from(arg);
            flat[at] = list.ptr;
            flat[at + 1] = list.len;
            at += 2;
        } else {
            flat[at] = arg;
            at += 1;
        }
    }
    return @call(.auto, import, flat);
}

fn elementOfSlice(comptime T: type) ?type {
    const pointer = switch (@typeInfo(T)) {
        .pointer => |info| info,
        else => return null,
    };
    if (pointer.size == .slice) return pointer.child;
    return if (@typeInfo(pointer.child) == .array) std.meta.Elem(pointer.child) else null;
}
"""


def write_zig(reader, types):
    parts = [ZIG_HEADER]
    parts += [zig_definition(t) + "\n" for t in types]
    by_interface = {}
    for function in reader.functions:
        by_interface.setdefault(function.interface, []).append(function)
    handle = by_interface.pop("handler")[0]
    parts.append(
        f'/// What a hook exports, and the parameters it takes.\npub const handle_name = "{module(reader, handle)}#{handle.name}";'
    )
    parts.append(
        f"pub const HandleFn = fn ({', '.join(zig_parameters(handle))}) callconv(.c) *{zig_type(handle.result)};\n"
    )
    for interface, functions in by_interface.items():
        body = "\n".join(zig_function(reader, function) for function in functions)
        parts.append(f"pub const {interface} = struct {{\n{body}\n}};\n")
    lines = []
    for t in types:
        if t.kind == "enum":
            continue
        name = zig_type(t)
        lines.append(f"    check({name}, {size(t)}, {align(t)});")
        if is_variant(t):
            lines.append(f'    std.debug.assert(@offsetOf({name}, "payload") == {payload_offset(t)});')
        elif t.kind != "list":
            lines += [
                f'    std.debug.assert(@offsetOf({name}, "{snake(label)}") == {at});'
                for label, at in offsets(t)
            ]
    checks = "\n".join(lines)
    parts.append(
        "fn check(comptime T: type, size: usize, alignment: usize) void {\n"
        "    std.debug.assert(@sizeOf(T) == size and @alignOf(T) == alignment);\n"
        "}\n\n"
        "// Only where pointers have the contract's size: tests run elsewhere, too.\n"
        f"comptime {{\n    if (@sizeOf(usize) == 4) layouts();\n}}\n\nfn layouts() void {{\n    @setEvalBranchQuota(10_000);\n{checks}\n}}\n"
    )
    return "\n".join(parts)
