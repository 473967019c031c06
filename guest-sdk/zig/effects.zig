//! What a hook wants beside its decision: texts for the model. They go out with the
//! decision, in order.

const std = @import("std");
const arena = @import("arena.zig");
const bindings = @import("bindings.zig");
const text = @import("text.zig");

pub const Placement = bindings.Placement;
pub const Propagation = bindings.Propagation;
pub const RoleHint = bindings.RoleHint;

/// Where a text for the model is put.
pub const ContextOptions = struct { placement: Placement = .system_reminder };

/// How a text for the model stays.
pub const ReminderOptions = struct {
    tags: []const []const u8 = &.{},
    /// A newer reminder with the same key takes the older one's place.
    dedupe_key: ?[]const u8 = null,
    /// For how many turns it stays; without a number, until the end.
    ttl_turns: ?u32 = null,
    preserve_on_compact: bool = false,
    propagate: Propagation = .session,
    role_hint: RoleHint = .system,
};

var queued: std.ArrayList(bindings.Effect) = .empty;

/// Hands the model a text.
pub fn context(body: []const u8, options: ContextOptions) void {
    push(.{ .tag = 0, .payload = .{ .context = .{ .text = keep(body), .placement = options.placement } } });
}

/// Hands the model a text that stays for some turns.
pub fn reminder(body: []const u8, options: ReminderOptions) void {
    const tags = arena.allocator.alloc(bindings.String, options.tags.len) catch unreachable;
    for (tags, options.tags) |*to, tag| to.* = keep(tag);
    push(.{ .tag = 1, .payload = .{ .reminder = .{
        .body = keep(body),
        .tags = .from(tags),
        .dedupe_key = .{ .tag = @intFromBool(options.dedupe_key != null), .payload = keep(options.dedupe_key orelse "") },
        .ttl_turns = .{ .tag = @intFromBool(options.ttl_turns != null), .payload = options.ttl_turns orelse 0 },
        .preserve_on_compact = @intFromBool(options.preserve_on_compact),
        .propagate = options.propagate,
        .role_hint = options.role_hint,
    } } });
}

/// Returns all effects so far.
pub fn all() []const bindings.Effect {
    return queued.items;
}

fn push(effect: bindings.Effect) void {
    queued.append(arena.allocator, effect) catch unreachable;
}

/// Copies: the text may lie on a stack that is gone when the host reads it.
pub fn keep(body: []const u8) bindings.String {
    return .from(arena.allocator.dupe(u8, text.utf8(body)) catch unreachable);
}
