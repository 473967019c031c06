//! Guests that import preview 1 and block with what they saw.

use hookbox::Outcome;
use serde_json::{Value, json};

use super::{command, component_project, module, wasi_component};

/// What a guest imports.
const IMPORTS: &str = r#"
  (import "wasi_snapshot_preview1" "args_sizes_get" (func $args_sizes_get (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "clock_time_get" (func $clock_time_get (param i32 i64 i32) (result i32)))
  (import "wasi_snapshot_preview1" "environ_get" (func $environ_get (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "environ_sizes_get" (func $environ_sizes_get (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_prestat_get" (func $fd_prestat_get (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_prestat_dir_name" (func $fd_prestat_dir_name (param i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_read" (func $fd_read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_readdir" (func $fd_readdir (param i32 i32 i32 i64 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_filestat_set_size" (func $fd_filestat_set_size (param i32 i64) (result i32)))
  (import "wasi_snapshot_preview1" "path_create_directory" (func $path_create_directory (param i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "path_filestat_set_times" (func $path_filestat_set_times (param i32 i32 i32 i32 i64 i64 i32) (result i32)))
  (import "wasi_snapshot_preview1" "path_link" (func $path_link (param i32 i32 i32 i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "path_open" (func $path_open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "path_remove_directory" (func $path_remove_directory (param i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "path_rename" (func $path_rename (param i32 i32 i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "path_symlink" (func $path_symlink (param i32 i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "path_unlink_file" (func $path_unlink_file (param i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll_oneoff (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $proc_exit (param i32)))
  (import "wasi_snapshot_preview1" "random_get" (func $random_get (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "sock_accept" (func $sock_accept (param i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "sock_recv" (func $sock_recv (param i32 i32 i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "sock_send" (func $sock_send (param i32 i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "sock_shutdown" (func $sock_shutdown (param i32 i32) (result i32)))
"#;

/// What a guest says is put together at 6144. Strings are at 2048, and 4096 is free
/// for what calls return.
const SAYING: &str = r#"
  (global $end (mut i32) (i32.const 6144))
  (func $byte (param i32)
    (i32.store8 (global.get $end) (local.get 0))
    (global.set $end (i32.add (global.get $end) (i32.const 1))))
  (func $text (param i32 i32)
    (memory.copy (global.get $end) (local.get 0) (local.get 1))
    (global.set $end (i32.add (global.get $end) (local.get 1))))
  (func $digits (param i64)
    (if (i64.ge_u (local.get 0) (i64.const 10))
      (then (call $digits (i64.div_u (local.get 0) (i64.const 10)))))
    (call $byte (i32.add (i32.const 48) (i32.wrap_i64 (i64.rem_u (local.get 0) (i64.const 10))))))
  (func $number (param i64)
    (call $digits (local.get 0))
    (call $byte (i32.const 32)))
  (func $code (param i32) (call $number (i64.extend_i32_u (local.get 0))))
"#;

/// A guest that blocks with what its body says.
pub fn saying(data: &str, body: &str) -> Vec<u8> {
    let data: String = [SAYING, data].concat();
    let body = format!(
        "{body}
         (i32.store8 (i32.const 1028) (i32.const 1))
         (i32.store (i32.const 1032) (i32.const 6144))
         (i32.store (i32.const 1036) (i32.sub (global.get $end) (i32.const 6144)))"
    );
    wasi_component(&module(IMPORTS, &data, &body))
}

/// What a guest said.
pub fn said(outcome: &Outcome) -> &str {
    let row = &outcome.trace[0];
    assert_eq!(row.error, None);
    outcome.reason.as_deref().unwrap().trim_end()
}

/// What a guest with this frontmatter says to a payload.
pub fn hear(guest: &[u8], more: &str, payload: Value) -> String {
    said(&component_project(guest, more).dispatch("tool.pre", payload)).to_owned()
}

pub fn ls() -> Value {
    command("ls")
}

/// The event's id is what a guest is asked about.
pub fn asked(about: &str) -> Value {
    json!({"id": about, "name": "read_file", "args": {}})
}
