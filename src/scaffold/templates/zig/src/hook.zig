//! Blocks commands that talk to hosts nobody put on the list.

const std = @import("std");
const hookbox = @import("hookbox");

pub const panic = hookbox.panic;
comptime {
    hookbox.exportHook(handle);
}

/// Where commands may go: these hosts and everything below them.
const allowed = [_][]const u8{ "github.com", "gitlab.com", "wikipedia.org", "docs.rs" };

fn handle(event: hookbox.Event) !hookbox.Decision {
    const command = event.string("args.command") orelse
        return hookbox.fail("args.command is not a string", .{});

    var urls: Urls = .{ .text = try std.ascii.allocLowerString(hookbox.allocator, command) };
    while (urls.next()) |authority| {
        const host = hostOf(authority);
        if (isAllowed(host)) continue;
        hookbox.log.warn("blocked: {s}", .{command});
        _ = hookbox.metrics.incr("egress.blocked", 1);
        return hookbox.block(hookbox.format("egress to {s} is not allowed; allowed hosts: {s}", .{
            if (host.len > 0) host else "a URL without a host",
            try std.mem.join(hookbox.allocator, ", ", &allowed),
        }));
    }
    return hookbox.allow();
}

fn isAllowed(host: []const u8) bool {
    for (allowed) |known| {
        if (!std.mem.endsWith(u8, host, known)) continue;
        const rest = host[0 .. host.len - known.len];
        if (rest.len == 0 or rest[rest.len - 1] == '.') return true;
    }
    return false;
}

/// Finds the URLs in a text, and returns of each what is between `://` and the path.
const Urls = struct {
    text: []const u8,
    at: usize = 0,

    fn next(urls: *Urls) ?[]const u8 {
        while (urls.at < urls.text.len) : (urls.at += 1) {
            const rest = urls.text[urls.at..];
            inline for (.{ "http://", "https://" }) |scheme| {
                if (std.mem.startsWith(u8, rest, scheme)) {
                    urls.at += scheme.len;
                    const url = rest[scheme.len..];
                    const end = std.mem.findAny(u8, url, "/?#'\"`;|&)>" ++ std.ascii.whitespace);
                    return url[0 .. end orelse url.len];
                }
            }
        }
        return null;
    }
};

/// Returns the host in `user:password@host:port`.
fn hostOf(authority: []const u8) []const u8 {
    const user_end = std.mem.findScalarLast(u8, authority, '@');
    const place = if (user_end) |at| authority[at + 1 ..] else authority;
    const host = if (std.mem.startsWith(u8, place, "["))
        std.mem.sliceTo(place[1..], ']')
    else
        std.mem.sliceTo(place, ':');
    return if (std.mem.endsWith(u8, host, ".")) host[0 .. host.len - 1] else host;
}

test "hosts are found in URLs" {
    for ([_][2][]const u8{
        .{ "github.com", "github.com" },
        .{ "me:secret@evil.example:8080", "evil.example" },
        .{ "[::1]:80", "::1" },
        .{ "docs.rs.", "docs.rs" },
        .{ "", "" },
    }) |row| try std.testing.expectEqualStrings(row[1], hostOf(row[0]));
    try std.testing.expect(isAllowed("api.github.com") and !isAllowed("notgithub.com"));
}
