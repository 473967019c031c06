//! What every hook may call: log, metrics, cache, events, clock and random.

const arena = @import("arena.zig");
const bindings = @import("bindings.zig");
const errors = @import("errors.zig");
const json = @import("json.zig");
const text = @import("text.zig");

/// Log lines, stored with the hook's name.
pub const log = struct {
    pub fn debug(comptime format: []const u8, args: anytype) void {
        write(.debug, text.format(format, args));
    }

    pub fn info(comptime format: []const u8, args: anytype) void {
        write(.info, text.format(format, args));
    }

    pub fn warn(comptime format: []const u8, args: anytype) void {
        write(.warn, text.format(format, args));
    }

    pub fn err(comptime format: []const u8, args: anytype) void {
        write(.@"error", text.format(format, args));
    }

    fn write(level: bindings.LogLevel, message: []const u8) void {
        bindings.call(bindings.log.write, .{ @backingInt(level), text.utf8(message) });
    }
};

/// Counters and gauges, shared by all hooks of a run.
pub const metrics = struct {
    /// The value of a counter or gauge.
    pub const Number = union(enum) {
        integer: i64,
        real: f64,

        /// Writes the number alone.
        pub fn jsonStringify(number: Number, writer: anytype) !void {
            switch (number) {
                inline else => |value| try writer.write(value),
            }
        }

        fn from(number: bindings.MetricsNumber) Number {
            return switch (number.tag) {
                0 => .{ .integer = number.payload.integer },
                else => .{ .real = number.payload.real },
            };
        }
    };

    /// A counter or gauge.
    pub const Metric = struct { name: []const u8, value: Number };

    /// Adds to a counter, which starts at 0, and returns its new value.
    pub fn incr(name: []const u8, by: i64) Number {
        var result: bindings.MetricsNumber = undefined;
        bindings.call(bindings.metrics.incr, .{ name, by, &result });
        return .from(result);
    }

    /// Sets a gauge to a whole or any other number.
    pub fn set(name: []const u8, value: anytype) void {
        switch (@typeInfo(@TypeOf(value))) {
            .int, .comptime_int => bindings.call(bindings.metrics.set, .{ name, 0, value }),
            .float, .comptime_float => bindings.call(bindings.metrics.set, .{ name, 1, @as(i64, @bitCast(@as(f64, value))) }),
            else => @compileError("a metric is a number, not a " ++ @typeName(@TypeOf(value))),
        }
    }

    /// Returns one value.
    pub fn get(name: []const u8) ?Number {
        var result: bindings.OptionMetricsNumber = undefined;
        bindings.call(bindings.metrics.get, .{ name, &result });
        return if (result.tag == 0) null else .from(result.payload);
    }

    /// Returns all values, sorted by name.
    pub fn snapshot() []const Metric {
        var result: bindings.ListTupleStringMetricsNumber = undefined;
        bindings.metrics.snapshot(&result);
        const made = arena.allocator.alloc(Metric, result.len) catch unreachable;
        for (made, result.slice()) |*metric, pair| metric.* = .{ .name = pair.f0.slice(), .value = .from(pair.f1) };
        return made;
    }
};

/// A store of JSON values that outlives the call.
pub const cache = struct {
    pub const Error = error{ NotGranted, Quota, WrongType, Unavailable };

    /// How long a value stays.
    pub const Options = struct {
        /// In milliseconds; without a number, for as long as the cache lives.
        ttl_ms: ?u64 = null,

        fn tag(options: Options) u32 {
            return @intFromBool(options.ttl_ms != null);
        }
    };

    pub fn get(key: []const u8) Error!?json.Value {
        var result: bindings.ResultOptionStringCacheError = undefined;
        bindings.call(bindings.cache.get, .{ key, &result });
        if (result.tag != 0) return errors.raise(Error, result.payload.err);
        const found = result.payload.ok;
        return if (found.tag == 0) null else trusted(found.payload);
    }

    /// Stores whatever can be written as JSON.
    pub fn set(key: []const u8, value: anytype, options: Options) Error!void {
        var result: bindings.ResultCacheError = undefined;
        bindings.call(bindings.cache.set, .{ key, json.write(value), options.tag(), options.ttl_ms orelse 0, &result });
        if (result.tag != 0) return errors.raise(Error, result.payload);
    }

    pub fn has(key: []const u8) Error!bool {
        var result: bindings.ResultBoolCacheError = undefined;
        bindings.call(bindings.cache.has, .{ key, &result });
        return truth(result);
    }

    /// Removes a value and says whether there was one.
    pub fn delete(key: []const u8) Error!bool {
        var result: bindings.ResultBoolCacheError = undefined;
        bindings.call(bindings.cache.delete, .{ key, &result });
        return truth(result);
    }

    /// Adds to an integer, which starts at 0, in one step, and returns the sum.
    pub fn increment(key: []const u8, by: i64, options: Options) Error!i64 {
        var result: bindings.ResultS64CacheError = undefined;
        bindings.call(bindings.cache.increment, .{ key, by, options.tag(), options.ttl_ms orelse 0, &result });
        if (result.tag != 0) return errors.raise(Error, result.payload.err);
        return result.payload.ok;
    }

    /// Stores `value` in one step if the stored value is `expected`, and says whether it
    /// did. `null` expects that there is none; `json.Value.null` expects the value null.
    pub fn compareAndSet(key: []const u8, expected: anytype, value: anytype, options: Options) Error!bool {
        var result: bindings.ResultBoolCacheError = undefined;
        const absent = @TypeOf(expected) == @TypeOf(null);
        const old: []const u8 = if (absent) "" else json.write(expected);
        bindings.call(bindings.cache.@"compare-and-set", .{
            key,
            @intFromBool(!absent),
            old,
            json.write(value),
            options.tag(),
            options.ttl_ms orelse 0,
            &result,
        });
        return truth(result);
    }

    fn truth(result: bindings.ResultBoolCacheError) Error!bool {
        if (result.tag != 0) return errors.raise(Error, result.payload.err);
        return result.payload.ok != 0;
    }
};

/// Events of the hook's own making.
pub const events = struct {
    pub const Error = error{ Blocked, Refused };

    /// Sends a `custom.*` event through its own chain and returns the payload that comes out.
    pub fn emit(name: []const u8, payload: anytype) Error!json.Value {
        var result: bindings.ResultStringEventsError = undefined;
        bindings.call(bindings.events.emit, .{ name, json.write(payload), &result });
        if (result.tag != 0) return errors.raise(Error, result.payload.err);
        return trusted(result.payload.ok);
    }
};

/// The time: the event's own, unless `grant: clock: real`.
pub const clock = struct {
    /// Returns the milliseconds since the start of 1970.
    pub fn now() u64 {
        return bindings.clock.now();
    }
};

/// Random bytes: they follow from the event, unless `grant: random: real`.
pub const random = struct {
    /// Fills a buffer of at most 65,536 bytes.
    pub fn bytes(buffer: []u8) void {
        var result: bindings.ListU8 = undefined;
        bindings.random.bytes(@intCast(buffer.len), &result);
        @memcpy(buffer, result.slice());
    }
};

/// Reads JSON that the host wrote.
pub fn trusted(source: bindings.String) json.Value {
    return json.parse(json.Value, source.slice()) catch errors.stop("the host handed over what is not JSON");
}
