//! Texts: formatting, and UTF-8.

const std = @import("std");
const arena = @import("arena.zig");

/// Writes a text like `std.fmt`, into memory that lasts as long as the call.
pub fn format(comptime template: []const u8, args: anytype) []const u8 {
    return arena.allocator.print(template, args) catch unreachable;
}

/// Returns a text as valid UTF-8, with U+FFFD in place of every byte that does not fit.
pub fn utf8(bytes: []const u8) []const u8 {
    if (std.unicode.utf8ValidateSlice(bytes)) return bytes;
    var made: std.ArrayList(u8) = .empty;
    var at: usize = 0;
    while (at < bytes.len) {
        const len = validLength(bytes[at..]);
        made.appendSlice(arena.allocator, if (len == 0) "\u{FFFD}" else bytes[at..][0..len]) catch unreachable;
        at += @max(len, 1);
    }
    return made.items;
}

/// Returns the length of the character at the start, 0 if there is none.
fn validLength(bytes: []const u8) usize {
    const len = std.unicode.utf8ByteSequenceLength(bytes[0]) catch return 0;
    return if (len <= bytes.len and std.unicode.utf8ValidateSlice(bytes[0..len])) len else 0;
}

test "what is not UTF-8 is replaced" {
    for ([_][2][]const u8{
        .{ "plain ä", "plain ä" },
        .{ "", "" },
        .{ "a\xC3", "a\u{FFFD}" },
        .{ "\xED\xA0\x80z", "\u{FFFD}\u{FFFD}\u{FFFD}z" },
        .{ "\xFFä", "\u{FFFD}ä" },
    }) |row| try std.testing.expectEqualStrings(row[1], utf8(row[0]));
}
