//! How things fail: errors of the contract with their texts, and panics.

const std = @import("std");
const arena = @import("arena.zig");
const bindings = @import("bindings.zig");
const text = @import("text.zig");

/// The error of `fail`: its text is what the hook said.
pub const HookFailed = error{HookFailed};

var last_error: anyerror = error.None;
var last_message: []const u8 = "";

/// Says why the hook cannot decide: `return hookbox.fail("no rule for {s}", .{name});`
pub fn fail(comptime format: []const u8, args: anytype) HookFailed {
    remember(error.HookFailed, text.format(format, args));
    return error.HookFailed;
}

/// Returns the text of the last error that the SDK returned.
pub fn message() []const u8 {
    return last_message;
}

/// Returns the contract's name for an error: `not-granted` for `error.NotGranted`.
pub fn kind(err: anyerror) []const u8 {
    const name = @errorName(err);
    const made = arena.allocator.alloc(u8, name.len * 2) catch unreachable;
    var len: usize = 0;
    for (name, 0..) |letter, index| {
        if (std.ascii.isUpper(letter) and index > 0) {
            made[len] = '-';
            len += 1;
        }
        made[len] = std.ascii.toLower(letter);
        len += 1;
    }
    return made[0..len];
}

/// Keeps the text of an error, which an error of Zig cannot carry.
pub fn remember(err: anyerror, why: []const u8) void {
    last_error = err;
    last_message = why;
}

/// Turns a failure of the contract into an error of the set that has its name.
pub fn raise(comptime Set: type, failure: anytype) Set {
    inline for (@TypeOf(failure).names, 0..) |name, tag| {
        if (failure.tag == tag) {
            const err = @field(Set, pascal(name));
            remember(err, failure.payload.slice());
            return err;
        }
    }
    unreachable;
}

fn pascal(comptime kebab: []const u8) []const u8 {
    var made: []const u8 = "";
    var upper = true;
    for (kebab) |letter| {
        if (letter != '-') made = made ++ &[_]u8{if (upper) std.ascii.toUpper(letter) else letter};
        upper = letter == '-';
    }
    return made;
}

/// Returns what a person reads of an error that left the hook.
pub fn describe(err: anyerror) []const u8 {
    if (last_error != err) return @errorName(err);
    if (err == error.HookFailed) return last_message;
    return text.format("{s}: {s}", .{ kind(err), last_message });
}

/// Ends the call: the hook failed to decide, and a gated action does not happen.
pub fn stop(why: []const u8) noreturn {
    bindings.call(bindings.fatal.stop, .{ text.utf8(why), 0, "" });
    @trap();
}

test "errors have the contract's names" {
    try std.testing.expectEqualStrings("not-granted", kind(error.NotGranted));
    try std.testing.expectEqualStrings("quota", kind(error.Quota));
    try std.testing.expectEqualStrings("NotGranted", comptime pascal("not-granted"));
}

test "failures of the contract become errors with a text" {
    const failure: bindings.CacheError = .{ .tag = 2, .payload = .from("not a number") };
    const err = raise(error{ NotGranted, Quota, WrongType, Unavailable }, failure);
    try std.testing.expectEqual(error.WrongType, err);
    try std.testing.expectEqualStrings("not a number", message());
    try std.testing.expectEqualStrings("wrong-type: not a number", describe(err));
    try std.testing.expectEqualStrings("Unexpected", describe(error.Unexpected));
    try std.testing.expectEqualStrings("no rule for x", describe(fail("no rule for {s}", .{"x"})));
}
