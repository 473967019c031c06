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

pub const Decision = extern struct {
    tag: u8,
    payload: extern union {
        block: String,
        modify: String,
        ask: String,
    },
};

pub const Placement = enum(u8) { system_reminder, system_message, prepend_to_prompt, append_to_output };

pub const Context = extern struct {
    text: String,
    placement: Placement,
};

pub const ListString = List(String);

pub const OptionString = extern struct {
    tag: u8,
    payload: String,
};

pub const OptionU32 = extern struct {
    tag: u8,
    payload: u32,
};

pub const Propagation = enum(u8) { all, session, none };

pub const RoleHint = enum(u8) { system, developer, user_block, ephemeral_cache };

pub const Reminder = extern struct {
    body: String,
    tags: ListString,
    dedupe_key: OptionString,
    ttl_turns: OptionU32,
    preserve_on_compact: u8,
    propagate: Propagation,
    role_hint: RoleHint,
};

pub const Effect = extern struct {
    tag: u8,
    payload: extern union {
        context: Context,
        reminder: Reminder,
    },
};

pub const ListEffect = List(Effect);

pub const Answer = extern struct {
    decision: Decision,
    effects: ListEffect,
};

pub const Failure = extern struct {
    message: String,
    stack: OptionString,
};

pub const ResultAnswerFailure = extern struct {
    tag: u8,
    payload: extern union {
        ok: Answer,
        err: Failure,
    },
};

pub const LogLevel = enum(u8) { debug, info, warn, @"error" };

pub const MetricsNumber = extern struct {
    tag: u8,
    payload: extern union {
        integer: i64,
        real: f64,
    },
};

pub const OptionMetricsNumber = extern struct {
    tag: u8,
    payload: MetricsNumber,
};

pub const TupleStringMetricsNumber = extern struct {
    f0: String,
    f1: MetricsNumber,
};

pub const ListTupleStringMetricsNumber = List(TupleStringMetricsNumber);

pub const CacheError = extern struct {
    tag: u8,
    payload: String,

    /// The names of the cases, by tag.
    pub const names = [_][]const u8{ "not-granted", "quota", "wrong-type", "unavailable" };
};

pub const ResultOptionStringCacheError = extern struct {
    tag: u8,
    payload: extern union {
        ok: OptionString,
        err: CacheError,
    },
};

pub const ResultCacheError = extern struct {
    tag: u8,
    payload: CacheError,
};

pub const ResultBoolCacheError = extern struct {
    tag: u8,
    payload: extern union {
        ok: u8,
        err: CacheError,
    },
};

pub const ResultS64CacheError = extern struct {
    tag: u8,
    payload: extern union {
        ok: i64,
        err: CacheError,
    },
};

pub const TupleStringString = extern struct {
    f0: String,
    f1: String,
};

pub const ListTupleStringString = List(TupleStringString);

pub const ListU8 = List(u8);

pub const HttpResponse = extern struct {
    status: u16,
    headers: ListTupleStringString,
    body: ListU8,
    url: String,
};

pub const HttpError = extern struct {
    tag: u8,
    payload: String,

    /// The names of the cases, by tag.
    pub const names = [_][]const u8{ "not-granted", "invalid-request", "timeout", "too-large", "failed" };
};

pub const ResultHttpResponseHttpError = extern struct {
    tag: u8,
    payload: extern union {
        ok: HttpResponse,
        err: HttpError,
    },
};

pub const EventsError = extern struct {
    tag: u8,
    payload: String,

    /// The names of the cases, by tag.
    pub const names = [_][]const u8{ "blocked", "refused" };
};

pub const ResultStringEventsError = extern struct {
    tag: u8,
    payload: extern union {
        ok: String,
        err: EventsError,
    },
};

pub const ToolsError = extern struct {
    tag: u8,
    payload: String,

    /// The names of the cases, by tag.
    pub const names = [_][]const u8{ "not-granted", "blocked", "unknown-tool", "failed" };
};

pub const ResultStringToolsError = extern struct {
    tag: u8,
    payload: extern union {
        ok: String,
        err: ToolsError,
    },
};

pub const EnvironmentError = extern struct {
    tag: u8,
    payload: String,

    /// The names of the cases, by tag.
    pub const names = [_][]const u8{"not-granted"};
};

pub const ResultOptionStringEnvironmentError = extern struct {
    tag: u8,
    payload: extern union {
        ok: OptionString,
        err: EnvironmentError,
    },
};

pub const FilesError = extern struct {
    tag: u8,
    payload: String,

    /// The names of the cases, by tag.
    pub const names = [_][]const u8{ "not-granted", "not-found", "too-large", "failed" };
};

pub const ResultListU8FilesError = extern struct {
    tag: u8,
    payload: extern union {
        ok: ListU8,
        err: FilesError,
    },
};

pub const ResultListStringFilesError = extern struct {
    tag: u8,
    payload: extern union {
        ok: ListString,
        err: FilesError,
    },
};

pub const HooksHook = extern struct {
    name: String,
    event: String,
    priority: i64,
    explicit_priority: u8,
    when: OptionString,
    handler: String,
    file: String,
};

pub const ListHooksHook = List(HooksHook);

pub const HooksError = extern struct {
    tag: u8,
    payload: String,

    /// The names of the cases, by tag.
    pub const names = [_][]const u8{"not-granted"};
};

pub const ResultListHooksHookHooksError = extern struct {
    tag: u8,
    payload: extern union {
        ok: ListHooksHook,
        err: HooksError,
    },
};

pub const ResultOptionStringHooksError = extern struct {
    tag: u8,
    payload: extern union {
        ok: OptionString,
        err: HooksError,
    },
};

/// What a hook exports, and the parameters it takes.
pub const handle_name = "hookbox:hook/handler@1.1.0#handle";
pub const HandleFn = fn (event_name: [*]const u8, event_name_len: usize, event_payload: [*]const u8, event_payload_len: usize, event_id: [*]const u8, event_id_len: usize, event_subject_tag: u32, event_subject: [*]const u8, event_subject_len: usize, event_hook: [*]const u8, event_hook_len: usize, event_depth: u32) callconv(.c) *ResultAnswerFailure;

pub const log = struct {
    pub extern "hookbox:hook/log@1.1.0" fn write(level: u32, message: [*]const u8, message_len: usize) void;
};

pub const metrics = struct {
    pub extern "hookbox:hook/metrics@1.1.0" fn incr(name: [*]const u8, name_len: usize, delta: i64, result: *MetricsNumber) void;
    pub extern "hookbox:hook/metrics@1.1.0" fn set(name: [*]const u8, name_len: usize, value_tag: u32, value_0: i64) void;
    pub extern "hookbox:hook/metrics@1.1.0" fn get(name: [*]const u8, name_len: usize, result: *OptionMetricsNumber) void;
    pub extern "hookbox:hook/metrics@1.1.0" fn snapshot(result: *ListTupleStringMetricsNumber) void;
};

pub const cache = struct {
    pub extern "hookbox:hook/cache@1.1.0" fn get(key: [*]const u8, key_len: usize, result: *ResultOptionStringCacheError) void;
    pub extern "hookbox:hook/cache@1.1.0" fn set(key: [*]const u8, key_len: usize, value: [*]const u8, value_len: usize, ttl_ms_tag: u32, ttl_ms: u64, result: *ResultCacheError) void;
    pub extern "hookbox:hook/cache@1.1.0" fn has(key: [*]const u8, key_len: usize, result: *ResultBoolCacheError) void;
    pub extern "hookbox:hook/cache@1.1.0" fn delete(key: [*]const u8, key_len: usize, result: *ResultBoolCacheError) void;
    pub extern "hookbox:hook/cache@1.1.0" fn increment(key: [*]const u8, key_len: usize, delta: i64, ttl_ms_tag: u32, ttl_ms: u64, result: *ResultS64CacheError) void;
    pub extern "hookbox:hook/cache@1.1.0" fn @"compare-and-set"(key: [*]const u8, key_len: usize, expected_tag: u32, expected: [*]const u8, expected_len: usize, value: [*]const u8, value_len: usize, ttl_ms_tag: u32, ttl_ms: u64, result: *ResultBoolCacheError) void;
};

pub const http = struct {
    pub extern "hookbox:hook/http@1.1.0" fn send(request_method: [*]const u8, request_method_len: usize, request_url: [*]const u8, request_url_len: usize, request_headers: [*]const TupleStringString, request_headers_len: usize, request_body_tag: u32, request_body: [*]const u8, request_body_len: usize, request_timeout_ms_tag: u32, request_timeout_ms: u32, result: *ResultHttpResponseHttpError) void;
};

pub const events = struct {
    pub extern "hookbox:hook/events@1.1.0" fn emit(name: [*]const u8, name_len: usize, payload: [*]const u8, payload_len: usize, result: *ResultStringEventsError) void;
};

pub const tools = struct {
    pub extern "hookbox:hook/tools@1.1.0" fn call(name: [*]const u8, name_len: usize, args: [*]const u8, args_len: usize, result: *ResultStringToolsError) void;
};

pub const clock = struct {
    pub extern "hookbox:hook/clock@1.1.0" fn now() u64;
};

pub const random = struct {
    pub extern "hookbox:hook/random@1.1.0" fn bytes(count: u32, result: *ListU8) void;
};

pub const fatal = struct {
    pub extern "hookbox:hook/fatal@1.1.0" fn stop(failure_message: [*]const u8, failure_message_len: usize, failure_stack_tag: u32, failure_stack: [*]const u8, failure_stack_len: usize) void;
};

pub const environment = struct {
    pub extern "hookbox:hook/environment@1.1.0" fn get(name: [*]const u8, name_len: usize, result: *ResultOptionStringEnvironmentError) void;
};

pub const files = struct {
    pub extern "hookbox:hook/files@1.1.0" fn read(path: [*]const u8, path_len: usize, result: *ResultListU8FilesError) void;
    pub extern "hookbox:hook/files@1.1.0" fn entries(path: [*]const u8, path_len: usize, result: *ResultListStringFilesError) void;
};

pub const hooks = struct {
    pub extern "hookbox:hook/hooks@1.1.0" fn all(result: *ResultListHooksHookHooksError) void;
    pub extern "hookbox:hook/hooks@1.1.0" fn source(name: [*]const u8, name_len: usize, result: *ResultOptionStringHooksError) void;
};

fn check(comptime T: type, size: usize, alignment: usize) void {
    std.debug.assert(@sizeOf(T) == size and @alignOf(T) == alignment);
}

// Only where pointers have the contract's size: tests run elsewhere, too.
comptime {
    if (@sizeOf(usize) == 4) layouts();
}

fn layouts() void {
    @setEvalBranchQuota(10_000);
    check(Decision, 12, 4);
    std.debug.assert(@offsetOf(Decision, "payload") == 4);
    check(Context, 12, 4);
    std.debug.assert(@offsetOf(Context, "text") == 0);
    std.debug.assert(@offsetOf(Context, "placement") == 8);
    check(ListString, 8, 4);
    check(OptionString, 12, 4);
    std.debug.assert(@offsetOf(OptionString, "payload") == 4);
    check(OptionU32, 8, 4);
    std.debug.assert(@offsetOf(OptionU32, "payload") == 4);
    check(Reminder, 40, 4);
    std.debug.assert(@offsetOf(Reminder, "body") == 0);
    std.debug.assert(@offsetOf(Reminder, "tags") == 8);
    std.debug.assert(@offsetOf(Reminder, "dedupe_key") == 16);
    std.debug.assert(@offsetOf(Reminder, "ttl_turns") == 28);
    std.debug.assert(@offsetOf(Reminder, "preserve_on_compact") == 36);
    std.debug.assert(@offsetOf(Reminder, "propagate") == 37);
    std.debug.assert(@offsetOf(Reminder, "role_hint") == 38);
    check(Effect, 44, 4);
    std.debug.assert(@offsetOf(Effect, "payload") == 4);
    check(ListEffect, 8, 4);
    check(Answer, 20, 4);
    std.debug.assert(@offsetOf(Answer, "decision") == 0);
    std.debug.assert(@offsetOf(Answer, "effects") == 12);
    check(Failure, 20, 4);
    std.debug.assert(@offsetOf(Failure, "message") == 0);
    std.debug.assert(@offsetOf(Failure, "stack") == 8);
    check(ResultAnswerFailure, 24, 4);
    std.debug.assert(@offsetOf(ResultAnswerFailure, "payload") == 4);
    check(MetricsNumber, 16, 8);
    std.debug.assert(@offsetOf(MetricsNumber, "payload") == 8);
    check(OptionMetricsNumber, 24, 8);
    std.debug.assert(@offsetOf(OptionMetricsNumber, "payload") == 8);
    check(TupleStringMetricsNumber, 24, 8);
    std.debug.assert(@offsetOf(TupleStringMetricsNumber, "f0") == 0);
    std.debug.assert(@offsetOf(TupleStringMetricsNumber, "f1") == 8);
    check(ListTupleStringMetricsNumber, 8, 4);
    check(CacheError, 12, 4);
    std.debug.assert(@offsetOf(CacheError, "payload") == 4);
    check(ResultOptionStringCacheError, 16, 4);
    std.debug.assert(@offsetOf(ResultOptionStringCacheError, "payload") == 4);
    check(ResultCacheError, 16, 4);
    std.debug.assert(@offsetOf(ResultCacheError, "payload") == 4);
    check(ResultBoolCacheError, 16, 4);
    std.debug.assert(@offsetOf(ResultBoolCacheError, "payload") == 4);
    check(ResultS64CacheError, 24, 8);
    std.debug.assert(@offsetOf(ResultS64CacheError, "payload") == 8);
    check(TupleStringString, 16, 4);
    std.debug.assert(@offsetOf(TupleStringString, "f0") == 0);
    std.debug.assert(@offsetOf(TupleStringString, "f1") == 8);
    check(ListTupleStringString, 8, 4);
    check(ListU8, 8, 4);
    check(HttpResponse, 28, 4);
    std.debug.assert(@offsetOf(HttpResponse, "status") == 0);
    std.debug.assert(@offsetOf(HttpResponse, "headers") == 4);
    std.debug.assert(@offsetOf(HttpResponse, "body") == 12);
    std.debug.assert(@offsetOf(HttpResponse, "url") == 20);
    check(HttpError, 12, 4);
    std.debug.assert(@offsetOf(HttpError, "payload") == 4);
    check(ResultHttpResponseHttpError, 32, 4);
    std.debug.assert(@offsetOf(ResultHttpResponseHttpError, "payload") == 4);
    check(EventsError, 12, 4);
    std.debug.assert(@offsetOf(EventsError, "payload") == 4);
    check(ResultStringEventsError, 16, 4);
    std.debug.assert(@offsetOf(ResultStringEventsError, "payload") == 4);
    check(ToolsError, 12, 4);
    std.debug.assert(@offsetOf(ToolsError, "payload") == 4);
    check(ResultStringToolsError, 16, 4);
    std.debug.assert(@offsetOf(ResultStringToolsError, "payload") == 4);
    check(EnvironmentError, 12, 4);
    std.debug.assert(@offsetOf(EnvironmentError, "payload") == 4);
    check(ResultOptionStringEnvironmentError, 16, 4);
    std.debug.assert(@offsetOf(ResultOptionStringEnvironmentError, "payload") == 4);
    check(FilesError, 12, 4);
    std.debug.assert(@offsetOf(FilesError, "payload") == 4);
    check(ResultListU8FilesError, 16, 4);
    std.debug.assert(@offsetOf(ResultListU8FilesError, "payload") == 4);
    check(ResultListStringFilesError, 16, 4);
    std.debug.assert(@offsetOf(ResultListStringFilesError, "payload") == 4);
    check(HooksHook, 56, 8);
    std.debug.assert(@offsetOf(HooksHook, "name") == 0);
    std.debug.assert(@offsetOf(HooksHook, "event") == 8);
    std.debug.assert(@offsetOf(HooksHook, "priority") == 16);
    std.debug.assert(@offsetOf(HooksHook, "explicit_priority") == 24);
    std.debug.assert(@offsetOf(HooksHook, "when") == 28);
    std.debug.assert(@offsetOf(HooksHook, "handler") == 40);
    std.debug.assert(@offsetOf(HooksHook, "file") == 48);
    check(ListHooksHook, 8, 4);
    check(HooksError, 12, 4);
    std.debug.assert(@offsetOf(HooksError, "payload") == 4);
    check(ResultListHooksHookHooksError, 16, 4);
    std.debug.assert(@offsetOf(ResultListHooksHookHooksError, "payload") == 4);
    check(ResultOptionStringHooksError, 16, 4);
    std.debug.assert(@offsetOf(ResultOptionStringHooksError, "payload") == 4);
}
