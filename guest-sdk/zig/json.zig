//! JSON as `std.json.Value`. Numbers keep their digits: they are read as `.number_string`.

const std = @import("std");
const arena = @import("arena.zig");
const errors = @import("errors.zig");
const text = @import("text.zig");

pub const Value = std.json.Value;

/// The error of `parse`.
pub const InvalidJson = error{InvalidJson};

/// Reads JSON text as a `Value` or as a type of your own, whose unknown fields are skipped.
pub fn parse(comptime T: type, source: []const u8) InvalidJson!T {
    return std.json.parseFromSliceLeaky(T, arena.allocator, source, .{
        .ignore_unknown_fields = true,
        .parse_numbers = false,
        .duplicate_field_behavior = .use_last,
        .allocate = .alloc_if_needed,
    }) catch |err| {
        errors.remember(error.InvalidJson, text.format("not the JSON that was expected: {s}", .{@errorName(err)}));
        return error.InvalidJson;
    };
}

/// Writes a `Value`, a struct or whatever else `std.json` can write as compact JSON.
pub fn write(value: anytype) []const u8 {
    return std.json.Stringify.valueAlloc(arena.allocator, value, .{}) catch unreachable;
}

/// Returns what a path like `args.files.0.path` leads to.
pub fn at(value: Value, path: []const u8) ?Value {
    var found = value;
    var steps = std.mem.splitScalar(u8, path, '.');
    while (steps.next()) |step| {
        switch (found) {
            .object => |members| found = members.get(step) orelse return null,
            .array => |items| {
                const index = std.fmt.parseInt(usize, step, 10) catch return null;
                if (index >= items.items.len) return null;
                found = items.items[index];
            },
            else => return null,
        }
    }
    return found;
}

/// Returns the string a path leads to; null if there is none or it is something else.
pub fn string(value: Value, path: []const u8) ?[]const u8 {
    const found = at(value, path) orelse return null;
    return if (found == .string) found.string else null;
}

/// Returns the integer a path leads to; null if it is none or does not fit.
pub fn integer(comptime T: type, value: Value, path: []const u8) ?T {
    const found = at(value, path) orelse return null;
    return switch (found) {
        .integer => |number| std.math.cast(T, number),
        .number_string => |digits| std.fmt.parseInt(T, digits, 10) catch null,
        else => null,
    };
}

/// Says whether a path leads to `true`.
pub fn isTrue(value: Value, path: []const u8) bool {
    const found = at(value, path) orelse return false;
    return found == .bool and found.bool;
}

/// Sets a member of an object. Panics if the value is none.
pub fn set(into: *Value, key: []const u8, value: Value) void {
    into.object.put(arena.allocator, key, value) catch unreachable;
}

/// Returns an empty object.
pub fn object() Value {
    return .{ .object = .empty };
}

const expectEqualStrings = std.testing.expectEqualStrings;
const expectEqual = std.testing.expectEqual;

test "JSON is written as it was read" {
    for ([_][]const u8{
        "null",                             "true", "-0", "1.10", "1E400", "123456789012345678901234567890", "\"\"", "[]", "{}",
        "{\"b\":1,\"a\":[1,{\"c\":null}]}",
        "\"\\u0000\\n\\\"\\\\ä😀\"",
    }) |source| try expectEqualStrings(source, write(try parse(Value, source)));
    try expectEqualStrings("\"😀\"", write(try parse(Value, "\"\\ud83d\\ude00\"")));
}

test "what is not JSON is refused, and so are lone surrogates" {
    for ([_][]const u8{ "", "nul", "[1,]", "{\"a\"}", "\"\\ud800\"", "\"\xFF\"", "1 2", "01" }) |source| {
        try std.testing.expectError(error.InvalidJson, parse(Value, source));
    }
    try std.testing.expectError(error.InvalidJson, parse(struct { n: u8 }, "{\"n\":256}"));
}

test "values are found" {
    const value = try parse(Value, "{\"a\":{\"b\":[10,{\"c\":\"deep\"}],\"t\":true}}");
    try expectEqualStrings("deep", string(value, "a.b.1.c").?);
    try expectEqual(10, integer(u8, value, "a.b.0").?);
    try expectEqual(null, integer(u3, value, "a.b.0"));
    try expectEqual(null, string(value, "a.b.0"));
    try expectEqual(null, at(value, "a.b.2"));
    try expectEqual(null, at(value, "a.b.x"));
    try expectEqual(null, at(value, "a.b.0.z"));
    try std.testing.expect(isTrue(value, "a.t") and !isTrue(value, "a.b") and !isTrue(value, "z"));
}

test "types of one's own are read and written" {
    const Call = struct { name: []const u8, args: struct { path: ?[]const u8 = null, n: i64 = 0 } };
    const call = try parse(Call, "{\"name\":\"x\",\"more\":1,\"args\":{\"n\":5}}");
    try expectEqual(5, call.args.n);
    try expectEqualStrings("{\"name\":\"x\",\"args\":{\"path\":null,\"n\":5}}", write(call));
    var changed = try parse(Value, "{\"a\":1}");
    set(&changed, "b", .{ .integer = 2 });
    set(&changed, "a", object());
    try expectEqualStrings("{\"a\":{},\"b\":2}", write(changed));
}
