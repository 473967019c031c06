//! What a hook may call if its file says so. A hook that uses none of these imports
//! none of them.

const std = @import("std");
const arena = @import("arena.zig");
const bindings = @import("bindings.zig");
const calls = @import("calls.zig");
const errors = @import("errors.zig");
const json = @import("json.zig");

/// `grant: http: [...]`
pub const http = struct {
    pub const Error = error{ NotGranted, InvalidRequest, Timeout, TooLarge, Failed };

    pub const Header = struct { name: []const u8, value: []const u8 };

    pub const Request = struct {
        method: []const u8 = "GET",
        url: []const u8,
        headers: []const Header = &.{},
        body: ?[]const u8 = null,
        /// Without a number the grant decides.
        timeout_ms: ?u32 = null,
    };

    pub const Response = struct {
        status: u16,
        headers: []const Header,
        body: []const u8,
        /// Where the answer came from, after redirects.
        url: []const u8,

        /// Returns the first header of this name, in any case.
        pub fn header(response: Response, name: []const u8) ?[]const u8 {
            for (response.headers) |candidate| {
                if (std.ascii.eqlIgnoreCase(candidate.name, name)) return candidate.value;
            }
            return null;
        }

        /// Reads the body as a `json.Value` or as a type of your own.
        pub fn as(response: Response, comptime T: type) json.InvalidJson!T {
            return json.parse(T, response.body);
        }
    };

    pub fn get(url: []const u8) Error!Response {
        return send(.{ .url = url });
    }

    pub fn post(url: []const u8, body: []const u8) Error!Response {
        return send(.{ .method = "POST", .url = url, .body = body });
    }

    pub fn send(request: Request) Error!Response {
        const headers = arena.allocator.alloc(bindings.TupleStringString, request.headers.len) catch unreachable;
        for (headers, request.headers) |*to, header| to.* = .{ .f0 = .from(header.name), .f1 = .from(header.value) };
        var result: bindings.ResultHttpResponseHttpError = undefined;
        bindings.call(bindings.http.send, .{
            request.method,
            request.url,
            headers,
            @intFromBool(request.body != null),
            request.body orelse "",
            @intFromBool(request.timeout_ms != null),
            request.timeout_ms orelse 0,
            &result,
        });
        if (result.tag != 0) return errors.raise(Error, result.payload.err);
        return received(result.payload.ok);
    }

    fn received(response: bindings.HttpResponse) Response {
        const headers = arena.allocator.alloc(Header, response.headers.len) catch unreachable;
        for (headers, response.headers.slice()) |*to, pair| to.* = .{ .name = pair.f0.slice(), .value = pair.f1.slice() };
        return .{
            .status = response.status,
            .headers = headers,
            .body = response.body.slice(),
            .url = response.url.slice(),
        };
    }
};

/// `grant: tools: [...]`
pub const tools = struct {
    pub const Error = error{ NotGranted, Blocked, UnknownTool, Failed };

    /// Calls a tool of the agent with whatever can be written as JSON.
    pub fn call(name: []const u8, args: anytype) Error!json.Value {
        var result: bindings.ResultStringToolsError = undefined;
        bindings.call(bindings.tools.call, .{ name, json.write(args), &result });
        if (result.tag != 0) return errors.raise(Error, result.payload.err);
        return calls.trusted(result.payload.ok);
    }
};

/// `grant: env: [...]`
pub const env = struct {
    pub const Error = error{NotGranted};

    /// Returns a variable; null if it is granted but not set.
    pub fn get(name: []const u8) Error!?[]const u8 {
        var result: bindings.ResultOptionStringEnvironmentError = undefined;
        bindings.call(bindings.environment.get, .{ name, &result });
        if (result.tag != 0) return errors.raise(Error, result.payload.err);
        return optional(result.payload.ok);
    }
};

/// `grant: read: [...]`
pub const files = struct {
    pub const Error = error{ NotGranted, NotFound, TooLarge, Failed };

    /// Returns what a file holds.
    pub fn read(path: []const u8) Error![]const u8 {
        var result: bindings.ResultListU8FilesError = undefined;
        bindings.call(bindings.files.read, .{ path, &result });
        if (result.tag != 0) return errors.raise(Error, result.payload.err);
        return result.payload.ok.slice();
    }

    /// Returns the names in a directory, sorted; those of directories end in `/`.
    pub fn list(path: []const u8) Error![]const []const u8 {
        var result: bindings.ResultListStringFilesError = undefined;
        bindings.call(bindings.files.entries, .{ path, &result });
        if (result.tag != 0) return errors.raise(Error, result.payload.err);
        const names = arena.allocator.alloc([]const u8, result.payload.ok.len) catch unreachable;
        for (names, result.payload.ok.slice()) |*to, name| to.* = name.slice();
        return names;
    }
};

/// `grant: hooks: read`
pub const hooks = struct {
    pub const Error = error{NotGranted};

    pub const Hook = struct {
        name: []const u8,
        event: []const u8,
        priority: i64,
        /// Whether the priority was written down or is the default.
        explicit_priority: bool,
        when: ?[]const u8,
        /// What runs: `starlark`, `component` or `none`.
        handler: []const u8,
        /// The file it is written in, relative to the project.
        file: []const u8,
    };

    /// Returns all hooks, in the order of registration.
    pub fn list() Error![]const Hook {
        var result: bindings.ResultListHooksHookHooksError = undefined;
        bindings.hooks.all(&result);
        if (result.tag != 0) return errors.raise(Error, result.payload.err);
        const made = arena.allocator.alloc(Hook, result.payload.ok.len) catch unreachable;
        for (made, result.payload.ok.slice()) |*to, hook| to.* = .{
            .name = hook.name.slice(),
            .event = hook.event.slice(),
            .priority = hook.priority,
            .explicit_priority = hook.explicit_priority != 0,
            .when = optional(hook.when),
            .handler = hook.handler.slice(),
            .file = hook.file.slice(),
        };
        return made;
    }

    /// Returns the text of the file a hook is written in; null if there is no such hook.
    pub fn source(name: []const u8) Error!?[]const u8 {
        var result: bindings.ResultOptionStringHooksError = undefined;
        bindings.call(bindings.hooks.source, .{ name, &result });
        if (result.tag != 0) return errors.raise(Error, result.payload.err);
        return optional(result.payload.ok);
    }
};

fn optional(found: bindings.OptionString) ?[]const u8 {
    return if (found.tag == 0) null else found.payload.slice();
}
