//! Does what `args.do` asks for: one mode for each thing an SDK has to get right.

const std = @import("std");
const hookbox = @import("hookbox");
const json = hookbox.json;

pub const panic = hookbox.panic;
comptime {
    hookbox.exportHook(handle);
}

const Mode = fn (hookbox.Event, json.Value) anyerror!hookbox.Decision;

const modes = .{
    .{ "allow", doAllow },
    .{ "block", doBlock },
    .{ "ask", doAsk },
    .{ "modify", doModify },
    .{ "echo", doEcho },
    .{ "context", doContext },
    .{ "reminder", doReminder },
    .{ "effects-block", doEffectsBlock },
    .{ "log", doLog },
    .{ "metrics", doMetrics },
    .{ "cache", doCache },
    .{ "cache-ttl", doCacheTtl },
    .{ "cache-quota", doCacheQuota },
    .{ "cache-wrong-type", doCacheWrongType },
    .{ "http-get", doHttpGet },
    .{ "http-post", doHttpPost },
    .{ "tools", doTools },
    .{ "env", doEnv },
    .{ "files", doFiles },
    .{ "files-list", doFilesList },
    .{ "hooks", doHooks },
    .{ "hooks-source", doHooksSource },
    .{ "emit", doEmit },
    .{ "clock", doClock },
    .{ "random", doRandom },
    .{ "event", doEvent },
    .{ "error", doError },
    .{ "panic", doPanic },
    .{ "nothing", doNothing },
    .{ "loop", doLoop },
    .{ "memory", doMemory },
    .{ "recursion", doRecursion },
};

fn handle(event: hookbox.Event) !hookbox.Decision {
    const args = event.at("args") orelse return hookbox.allow();
    const mode = json.string(args, "do") orelse return hookbox.allow();
    inline for (modes) |entry| {
        const run: Mode = entry[1];
        if (std.mem.eql(u8, mode, entry[0])) return run(event, args);
    }
    return hookbox.fail("unknown mode: {s}", .{mode});
}

fn note(value: anytype) hookbox.Decision {
    return hookbox.modify(.{ .note = value });
}

fn noteError(err: anyerror) hookbox.Decision {
    return note(.{ .@"error" = hookbox.kind(err) });
}

fn text(args: json.Value, key: []const u8) []const u8 {
    return json.string(args, key) orelse "";
}

// ---- decisions and effects ----

fn doAllow(_: hookbox.Event, _: json.Value) !hookbox.Decision {
    return hookbox.allow();
}

fn doBlock(_: hookbox.Event, args: json.Value) !hookbox.Decision {
    return hookbox.block(text(args, "reason"));
}

fn doAsk(_: hookbox.Event, args: json.Value) !hookbox.Decision {
    return hookbox.ask(text(args, "message"));
}

fn doModify(_: hookbox.Event, args: json.Value) !hookbox.Decision {
    return note(json.at(args, "value"));
}

fn doEcho(event: hookbox.Event, _: json.Value) !hookbox.Decision {
    return hookbox.modify(event.payload);
}

/// Returns the case of an enum that a text like `system-message` names.
fn named(comptime T: type, name: []const u8) !T {
    const snake = try hookbox.allocator.dupe(u8, name);
    std.mem.replaceScalar(u8, snake, '-', '_');
    return std.meta.stringToEnum(T, snake) orelse hookbox.fail("no such name: {s}", .{name});
}

fn doContext(_: hookbox.Event, args: json.Value) !hookbox.Decision {
    const contexts = json.at(args, "contexts") orelse return hookbox.allow();
    for (contexts.array.items) |context| {
        var options: hookbox.ContextOptions = .{};
        if (json.string(context, "placement")) |name| options.placement = try named(hookbox.Placement, name);
        hookbox.context(text(context, "text"), options);
    }
    return hookbox.allow();
}

fn doReminder(_: hookbox.Event, args: json.Value) !hookbox.Decision {
    var options: hookbox.ReminderOptions = .{
        .dedupe_key = json.string(args, "dedupe_key"),
        .ttl_turns = json.integer(u32, args, "ttl_turns"),
        .preserve_on_compact = json.isTrue(args, "preserve_on_compact"),
    };
    if (json.at(args, "tags")) |tags| {
        const made = try hookbox.allocator.alloc([]const u8, tags.array.items.len);
        for (made, tags.array.items) |*to, tag| to.* = tag.string;
        options.tags = made;
    }
    if (json.string(args, "propagate")) |name| options.propagate = try named(hookbox.Propagation, name);
    if (json.string(args, "role_hint")) |name| options.role_hint = try named(hookbox.RoleHint, name);
    hookbox.reminder(text(args, "body"), options);
    return hookbox.allow();
}

fn doEffectsBlock(_: hookbox.Event, _: json.Value) !hookbox.Decision {
    hookbox.context("first", .{});
    hookbox.reminder("second", .{});
    return hookbox.block("with effects");
}

// ---- what every hook may use ----

fn doLog(_: hookbox.Event, args: json.Value) !hookbox.Decision {
    const message = text(args, "text");
    hookbox.log.debug("{s}", .{message});
    hookbox.log.info("{s}", .{message});
    hookbox.log.warn("{s}", .{message});
    hookbox.log.err("{s}", .{message});
    return hookbox.allow();
}

fn doMetrics(_: hookbox.Event, _: json.Value) !hookbox.Decision {
    const first = hookbox.metrics.incr("conformance.count", 2);
    const second = hookbox.metrics.incr("conformance.count", 1);
    hookbox.metrics.set("conformance.gauge", 2.5);
    hookbox.metrics.set("conformance.whole", 7);
    var names: std.ArrayList([]const u8) = .empty;
    for (hookbox.metrics.snapshot()) |metric| {
        if (std.mem.startsWith(u8, metric.name, "conformance.")) try names.append(hookbox.allocator, metric.name);
    }
    return note(.{
        .first = first,
        .second = second,
        .gauge = hookbox.metrics.get("conformance.gauge"),
        .whole = hookbox.metrics.get("conformance.whole"),
        .missing = hookbox.metrics.get("conformance.none"),
        .names = names.items,
    });
}

fn doCache(_: hookbox.Event, args: json.Value) !hookbox.Decision {
    const cache = hookbox.cache;
    try cache.set("k", json.at(args, "value"), .{});
    return note(.{
        .got = try cache.get("k"),
        .has = try cache.has("k"),
        .deleted = try cache.delete("k"),
        .again = try cache.delete("k"),
        .gone = try cache.get("k"),
        .five = try cache.increment("n", 5, .{}),
        .seven = try cache.increment("n", 2, .{}),
        .fresh = try cache.compareAndSet("c", null, 1, .{}),
        .stale = try cache.compareAndSet("c", null, 2, .{}),
        .swapped = try cache.compareAndSet("c", 1, .{ .x = 2 }, .{}),
        .c = try cache.get("c"),
    });
}

fn doCacheTtl(_: hookbox.Event, _: json.Value) !hookbox.Decision {
    try hookbox.cache.set("t", 1, .{ .ttl_ms = 60_000 });
    return note(try hookbox.cache.get("t"));
}

fn doCacheQuota(_: hookbox.Event, args: json.Value) !hookbox.Decision {
    const letters = try hookbox.allocator.alloc(u8, json.integer(usize, args, "size") orelse 0);
    @memset(letters, 'x');
    hookbox.cache.set("big", letters, .{}) catch |err| return noteError(err);
    return note("stored");
}

fn doCacheWrongType(_: hookbox.Event, _: json.Value) !hookbox.Decision {
    try hookbox.cache.set("w", "text", .{});
    return note(hookbox.cache.increment("w", 1, .{}) catch |err| return noteError(err));
}

fn doEmit(_: hookbox.Event, args: json.Value) !hookbox.Decision {
    return note(hookbox.events.emit(text(args, "name"), .{ .n = 1 }) catch |err| return noteError(err));
}

fn doClock(_: hookbox.Event, _: json.Value) !hookbox.Decision {
    return note(hookbox.clock.now());
}

fn doRandom(_: hookbox.Event, _: json.Value) !hookbox.Decision {
    var bytes: [8]u8 = undefined;
    hookbox.random.bytes(&bytes);
    return note(&std.fmt.bytesToHex(bytes, .lower));
}

fn doEvent(event: hookbox.Event, _: json.Value) !hookbox.Decision {
    return note(.{
        .name = event.name,
        .id = event.id,
        .subject = event.subject,
        .hook = event.hook,
        .depth = event.depth,
    });
}

// ---- what has to be granted ----

fn doHttpGet(_: hookbox.Event, args: json.Value) !hookbox.Decision {
    const response = hookbox.http.send(.{
        .url = text(args, "url"),
        .headers = &.{.{ .name = "x-conformance", .value = "yes" }},
    }) catch |err| return noteError(err);
    return note(.{
        .status = response.status,
        .text = hookbox.utf8(response.body),
        .header = response.header("x-answer"),
    });
}

fn doHttpPost(_: hookbox.Event, args: json.Value) !hookbox.Decision {
    const response = hookbox.http.post(text(args, "url"), text(args, "body")) catch |err| return noteError(err);
    return note(.{ .status = response.status, .text = hookbox.utf8(response.body) });
}

fn doTools(_: hookbox.Event, args: json.Value) !hookbox.Decision {
    return note(hookbox.tools.call(text(args, "tool"), .{ .q = "x" }) catch |err| return noteError(err));
}

fn doEnv(_: hookbox.Event, args: json.Value) !hookbox.Decision {
    return note(hookbox.env.get(text(args, "variable")) catch |err| return noteError(err));
}

fn doFiles(_: hookbox.Event, args: json.Value) !hookbox.Decision {
    const bytes = hookbox.files.read(text(args, "path")) catch |err| return noteError(err);
    return note(hookbox.utf8(bytes));
}

fn doFilesList(_: hookbox.Event, args: json.Value) !hookbox.Decision {
    return note(hookbox.files.list(text(args, "path")) catch |err| return noteError(err));
}

fn doHooks(_: hookbox.Event, _: json.Value) !hookbox.Decision {
    const hooks = try hookbox.hooks.list();
    const names = try hookbox.allocator.alloc([]const u8, hooks.len);
    for (names, hooks) |*name, hook| name.* = hook.name;
    return note(names);
}

fn doHooksSource(_: hookbox.Event, _: json.Value) !hookbox.Decision {
    const some = try hookbox.hooks.source("conformance") orelse "";
    return note(.{
        .some = std.mem.find(u8, some, "event:") != null,
        .none = try hookbox.hooks.source("nobody"),
    });
}

// ---- ways to fail ----

fn doError(_: hookbox.Event, args: json.Value) !hookbox.Decision {
    return hookbox.fail("{s}", .{text(args, "message")});
}

fn doPanic(_: hookbox.Event, args: json.Value) !hookbox.Decision {
    @panic(text(args, "message"));
}

fn doNothing(_: hookbox.Event, _: json.Value) !hookbox.Decision {
    return hookbox.fail("the hook returned no decision", .{});
}

fn doLoop(_: hookbox.Event, _: json.Value) !hookbox.Decision {
    var count: u32 = 0;
    while (true) std.mem.doNotOptimizeAway(&count);
}

fn doMemory(_: hookbox.Event, _: json.Value) !hookbox.Decision {
    while (true) @memset(try hookbox.allocator.alloc(u8, 64 << 10), 1);
}

/// What is done after the call keeps the frame.
fn recurse(depth: *volatile u32) void {
    depth.* +%= 1;
    if (depth.* != 0) recurse(depth);
    depth.* -%= 1;
}

fn doRecursion(_: hookbox.Event, _: json.Value) !hookbox.Decision {
    var depth: u32 = 0;
    recurse(&depth);
    return note(depth);
}
