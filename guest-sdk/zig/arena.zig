//! Memory for one call. Nothing is given back: the instance ends with the call.

const std = @import("std");
const builtin = @import("builtin");

/// Allocates for as long as the call lasts. It never fails: a call that cannot have
/// more memory ends, and the host names the limit.
pub const allocator: std.mem.Allocator = if (builtin.cpu.arch.isWasm())
    .{ .ptr = undefined, .vtable = &.{ .alloc = alloc, .resize = resize, .remap = remap, .free = free } }
else
    // Tests run on the machine itself.
    std.heap.page_allocator;

const page = 64 << 10;

// Growing costs the host a system call, so small steps are made larger, but not so
// large that a small limit is hit early.
const largest_step = 16;

// Where the linker's own data ends.
extern var __heap_base: u8;

var top: usize = 0;
var end: usize = 0;

fn grow(wanted_end: usize) void {
    const pages = @wasmMemorySize(0);
    end = pages * page;
    if (wanted_end <= end) return;
    const missing = (wanted_end - end - 1) / page + 1;
    const more = @max(missing, @min(pages / 4, largest_step));
    // A trap and no message: the host remembers that it refused, and names the limit.
    if (@wasmMemoryGrow(0, more) < 0) @trap();
    end += more * page;
}

fn reserve(len: usize, alignment: usize) usize {
    if (top == 0) top = @intFromPtr(&__heap_base);
    const start = std.mem.alignForward(usize, top, alignment);
    const wanted_end, const overflowed = @addWithOverflow(start, len);
    if (overflowed != 0) @trap();
    if (wanted_end > end) grow(wanted_end);
    top = wanted_end;
    return start;
}

fn alloc(_: *anyopaque, len: usize, alignment: std.mem.Alignment, _: usize) ?[*]u8 {
    return @ptrFromInt(reserve(len, alignment.toByteUnits()));
}

fn resize(_: *anyopaque, memory: []u8, _: std.mem.Alignment, new_len: usize, _: usize) bool {
    if (new_len <= memory.len) return true;
    if (@intFromPtr(memory.ptr) + memory.len != top) return false;
    _ = reserve(new_len - memory.len, 1);
    return true;
}

fn remap(context: *anyopaque, memory: []u8, alignment: std.mem.Alignment, new_len: usize, address: usize) ?[*]u8 {
    return if (resize(context, memory, alignment, new_len, address)) memory.ptr else null;
}

fn free(_: *anyopaque, _: []u8, _: std.mem.Alignment, _: usize) void {}

/// Where the host puts what it hands over.
pub fn cabiRealloc(old: usize, old_len: usize, alignment: usize, new_len: usize) callconv(.c) usize {
    const made = reserve(new_len, alignment);
    if (old_len > 0) {
        const from: [*]const u8 = @ptrFromInt(old);
        const to: [*]u8 = @ptrFromInt(made);
        const len = @min(old_len, new_len);
        @memcpy(to[0..len], from[0..len]);
    }
    return made;
}
