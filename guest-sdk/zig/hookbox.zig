//! hookbox in Zig: everything a hook needs.
//!
//!     const hookbox = @import("hookbox");
//!
//!     pub const panic = hookbox.panic;
//!     comptime {
//!         hookbox.exportHook(handle);
//!     }
//!
//!     fn handle(event: hookbox.Event) !hookbox.Decision {
//!         const command = event.string("args.command") orelse return hookbox.fail("no command", .{});
//!         if (std.mem.find(u8, command, "rm -rf /") != null) return hookbox.block("not here");
//!         return hookbox.allow();
//!     }
//!
//! An error that leaves the hook means that it could not decide; on an event that gates
//! an action this blocks the action. Memory comes from `hookbox.allocator` and need not
//! be freed: every call runs in a fresh instance.

const std = @import("std");
const builtin = @import("builtin");
const bindings = @import("bindings.zig");
const arena = @import("arena.zig");
const effects = @import("effects.zig");
const errors = @import("errors.zig");
const texts = @import("text.zig");
const calls = @import("calls.zig");
const granted = @import("granted.zig");

pub const json = @import("json.zig");

pub const allocator = arena.allocator;
pub const format = texts.format;
pub const utf8 = texts.utf8;

pub const fail = errors.fail;
pub const kind = errors.kind;
pub const errorMessage = errors.message;

pub const context = effects.context;
pub const reminder = effects.reminder;
pub const ContextOptions = effects.ContextOptions;
pub const ReminderOptions = effects.ReminderOptions;
pub const Placement = effects.Placement;
pub const Propagation = effects.Propagation;
pub const RoleHint = effects.RoleHint;

pub const log = calls.log;
pub const metrics = calls.metrics;
pub const cache = calls.cache;
pub const events = calls.events;
pub const clock = calls.clock;
pub const random = calls.random;

pub const http = granted.http;
pub const tools = granted.tools;
pub const env = granted.env;
pub const files = granted.files;
pub const hooks = granted.hooks;

/// A point in the agent's loop at which the hook is asked.
pub const Event = struct {
    /// For example `tool.pre`.
    name: []const u8,
    /// What the event carries. Numbers are `.number_string`, so that no digit is lost.
    payload: json.Value,
    /// The same as it came.
    payload_text: []const u8,
    /// Tells this event from every other one of the same run.
    id: []const u8,
    /// What the event is about, for example the name of the tool.
    subject: ?[]const u8,
    /// The name this hook is registered under.
    hook: []const u8,
    /// 0 for an event of the agent; one more for each event or tool call of a hook on the way.
    depth: u32,

    /// Returns what a path like `args.files.0.path` leads to.
    pub fn at(event: Event, path: []const u8) ?json.Value {
        return json.at(event.payload, path);
    }

    /// Returns the string a path leads to; null if there is none or it is something else.
    pub fn string(event: Event, path: []const u8) ?[]const u8 {
        return json.string(event.payload, path);
    }

    /// Reads the payload as a type of your own, whose unknown fields are skipped.
    pub fn as(event: Event, comptime T: type) json.InvalidJson!T {
        return json.parse(T, event.payload_text);
    }
};

/// What a hook rules.
pub const Decision = union(enum) {
    /// Let it pass.
    allow,
    /// Refuse it. The agent reads the reason.
    block: []const u8,
    /// Let it pass with another payload, as JSON text.
    modify: []const u8,
    /// Let a person decide.
    ask: []const u8,
};

/// Lets it pass.
pub fn allow() Decision {
    return .allow;
}

/// Refuses it. The agent reads the reason.
pub fn block(reason: []const u8) Decision {
    return .{ .block = effects.keep(reason).slice() };
}

/// Lets it pass with another payload: a `json.Value`, a struct, or whatever else can be
/// written as JSON. An object is laid over the current payload key by key.
pub fn modify(payload: anytype) Decision {
    return .{ .modify = json.write(payload) };
}

/// Lets a person decide.
pub fn ask(question: []const u8) Decision {
    return .{ .ask = effects.keep(question).slice() };
}

/// Makes panics say why. The hook's file needs `pub const panic = hookbox.panic;`.
pub const panic = std.debug.FullPanic(struct {
    fn panicked(message: []const u8, _: ?usize) noreturn {
        errors.stop(message);
    }
}.panicked);

/// Makes a function the hook: `fn (hookbox.Event) !hookbox.Decision`.
pub fn exportHook(comptime handle: anytype) void {
    // Tests of a hook run on the machine itself, where there is nobody to export to.
    if (builtin.is_test) return;
    if (!@hasDecl(@import("root"), "panic"))
        @compileError("add `pub const panic = hookbox.panic;` to the hook's file, so that a panic says why");
    if (Decided(handle) != Decision)
        @compileError("a hook returns hookbox.Decision, or an error: hookbox.allow(), block(), modify() or ask()");
    const Exported = Entry(handle);
    @export(&arena.cabiRealloc, .{ .name = "cabi_realloc" });
    @export(&Exported.handle, .{ .name = bindings.handle_name });
}

/// Returns what a function returns if it does not return an error.
fn Decided(comptime handle: anytype) type {
    const Returned = @typeInfo(@TypeOf(handle)).@"fn".return_type.?;
    return switch (@typeInfo(Returned)) {
        .error_union => |result| result.payload,
        else => Returned,
    };
}

fn Entry(comptime hook: anytype) type {
    return struct {
        var answer: bindings.ResultAnswerFailure = undefined;

        fn handle(
            name: [*]const u8,
            name_len: usize,
            payload: [*]const u8,
            payload_len: usize,
            id: [*]const u8,
            id_len: usize,
            subject_tag: u32,
            subject: [*]const u8,
            subject_len: usize,
            hook_name: [*]const u8,
            hook_name_len: usize,
            depth: u32,
        ) callconv(.c) *bindings.ResultAnswerFailure {
            const payload_text = payload[0..payload_len];
            if (json.parse(json.Value, payload_text)) |value| {
                answerTo(.{
                    .name = name[0..name_len],
                    .payload = value,
                    .payload_text = payload_text,
                    .id = id[0..id_len],
                    .subject = if (subject_tag == 0) null else subject[0..subject_len],
                    .hook = hook_name[0..hook_name_len],
                    .depth = depth,
                });
            } else |err| failed(err);
            return &answer;
        }

        fn answerTo(event: Event) void {
            const result: anyerror!Decision = hook(event);
            const decision = result catch |err| return failed(err);
            const body = switch (decision) {
                .allow => "",
                .block, .ask => |body| texts.utf8(body),
                .modify => |body| body,
            };
            answer = .{ .tag = 0, .payload = .{ .ok = .{
                .decision = .{ .tag = @backingInt(decision), .payload = .{ .block = .from(body) } },
                .effects = .from(effects.all()),
            } } };
        }

        fn failed(err: anyerror) void {
            answer = .{ .tag = 1, .payload = .{ .err = .{
                .message = .from(texts.utf8(errors.describe(err))),
                .stack = .{ .tag = 0, .payload = .from("") },
            } } };
        }
    };
}

comptime {
    if (builtin.zig_version.order(.{ .major = 0, .minor = 17, .patch = 0 }) == .lt)
        @compileError("this SDK is written for Zig 0.17; `pip install ziglang` brings it");
    // The export has to have the contract's parameters.
    std.debug.assert(@TypeOf(Entry(never).handle) == bindings.HandleFn);
}

fn never(_: Event) Decision {
    unreachable;
}

test {
    std.testing.refAllDecls(json);
    _ = texts;
    _ = errors;
    _ = effects;
    _ = bindings;
}

test "decisions hold their text" {
    try std.testing.expectEqualStrings("no", block("no").block);
    try std.testing.expectEqualStrings("\u{FFFD}?", ask("\xFF?").ask);
    try std.testing.expectEqualStrings("{\"note\":[1,null]}", modify(.{ .note = .{ 1, null } }).modify);
}

test "effects are queued in order" {
    context("first", .{ .placement = .append_to_output });
    reminder("second", .{ .tags = &.{ "a", "b" }, .ttl_turns = 0, .propagate = .none });
    const queued = effects.all();
    try std.testing.expectEqual(2, queued.len);
    try std.testing.expectEqualStrings("first", queued[0].payload.context.text.slice());
    try std.testing.expectEqual(.append_to_output, queued[0].payload.context.placement);
    const second = queued[1].payload.reminder;
    try std.testing.expectEqualStrings("b", second.tags.slice()[1].slice());
    try std.testing.expectEqual(1, second.ttl_turns.tag);
    try std.testing.expectEqual(0, second.dedupe_key.tag);
    try std.testing.expectEqual(.none, second.propagate);
}
