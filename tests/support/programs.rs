//! The same hook twice: as a program of this machine, and as a component. Whatever they
//! write and however they exit, the answers have to be the same.

use super::Project;

/// A hook that writes a text to each stream and exits with a code.
#[derive(Debug, Clone, Default)]
pub struct Says {
    pub stdout: String,
    pub stderr: String,
    pub exit: u8,
}

/// Where a hook runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    Process,
    Component,
}

pub const PLACES: [Place; 2] = [Place::Process, Place::Component];

impl Says {
    pub fn new(stdout: &str, stderr: &str, exit: u8) -> Self {
        Self {
            stdout: stdout.to_owned(),
            stderr: stderr.to_owned(),
            exit,
        }
    }

    /// The hook as a Bash script.
    pub fn bash(&self) -> String {
        format!(
            "cat > /dev/null\nprintf '%b' '{}'\nprintf '%b' '{}' >&2\nexit {}",
            octal(&self.stdout),
            octal(&self.stderr),
            self.exit
        )
    }

    /// The hook as a program for WASI's first preview.
    pub fn wasm(&self) -> Vec<u8> {
        let (out, err) = (hex(&self.stdout), hex(&self.stderr));
        program(&format!(
            r#"(data (i32.const 1024) "{out}")
               (data (i32.const 65536) "{err}")
               (func (export "_start")
                 (call $print (i32.const 1) (i32.const 1024) (i32.const {}))
                 (call $print (i32.const 2) (i32.const 65536) (i32.const {}))
                 (call $exit (i32.const {})))"#,
            self.stdout.len(),
            self.stderr.len(),
            self.exit
        ))
    }

    /// Puts the hook beside the project's files and returns its handler, in Polytoken's
    /// words.
    pub fn polytoken(&self, project: &Project, place: Place, name: &str) -> serde_json::Value {
        match place {
            Place::Process => serde_json::json!({"bash": self.bash()}),
            Place::Component => {
                project.file(&format!(".polytoken/{name}.wasm"), self.wasm());
                serde_json::json!({"wasm": format!("{name}.wasm")})
            }
        }
    }

    /// Puts the hook beside the project's files and returns its path, as The Harness
    /// Framework names it.
    pub fn framework(&self, project: &Project, place: Place, name: &str) -> String {
        match place {
            Place::Process => {
                let path = format!("hooks/{name}.sh");
                let header =
                    "#!/usr/bin/env bash\n# Hook: x\n# Event: x\n# Description: x\n# Matcher: x\n";
                executable(project, &path, &format!("{header}{}\n", self.bash()));
                path
            }
            Place::Component => {
                let path = format!("hooks/{name}.wasm");
                project.file(&path, self.wasm());
                path
            }
        }
    }
}

/// Writes a script that can be run.
pub fn executable(project: &Project, path: &str, text: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    project.file(path, text);
    let path = project.path().join(path);
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// A program that writes its standard input to its standard output.
pub fn echo() -> Vec<u8> {
    program(
        r#"(func (export "_start") (local $n i32)
             (loop $more
               (local.set $n (call $read (i32.const 1024) (i32.const 60000)))
               (call $print (i32.const 1) (i32.const 1024) (local.get $n))
               (br_if $more (local.get $n))))"#,
    )
}

/// A program that writes its environment to its standard error, a line a variable.
pub fn environment() -> Vec<u8> {
    program(
        r#"(func (export "_start") (local $count i32) (local $size i32) (local $i i32)
             (drop (call $environ_sizes (i32.const 16) (i32.const 20)))
             (local.set $count (i32.load (i32.const 16)))
             (local.set $size (i32.load (i32.const 20)))
             (drop (call $environ (i32.const 1024) (i32.const 65536)))
             (block $done (loop $next
               (br_if $done (i32.ge_u (local.get $i) (local.get $size)))
               (if (i32.eqz (i32.load8_u (i32.add (i32.const 65536) (local.get $i))))
                 (then (i32.store8 (i32.add (i32.const 65536) (local.get $i)) (i32.const 10))))
               (local.set $i (i32.add (local.get $i) (i32.const 1)))
               (br $next)))
             (call $print (i32.const 2) (i32.const 65536) (local.get $size))
             (call $exit (i32.const 2)))"#,
    )
}

/// A program that never ends.
pub fn endless() -> Vec<u8> {
    program(r#"(func (export "_start") (loop $more (br $more)))"#)
}

/// A program that traps.
pub fn trap() -> Vec<u8> {
    program(r#"(func (export "_start") unreachable)"#)
}

/// A program for WASI's first preview with this body; `$print`, `$read` and `$exit` are there.
pub fn program(body: &str) -> Vec<u8> {
    let text = format!(
        r#"(module
             (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
             (import "wasi_snapshot_preview1" "fd_read" (func $fd_read (param i32 i32 i32 i32) (result i32)))
             (import "wasi_snapshot_preview1" "environ_sizes_get" (func $environ_sizes (param i32 i32) (result i32)))
             (import "wasi_snapshot_preview1" "environ_get" (func $environ (param i32 i32) (result i32)))
             (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
             (memory (export "memory") 4)
             (func $print (param $stream i32) (param $at i32) (param $size i32)
               (if (i32.eqz (local.get $size)) (then (return)))
               (i32.store (i32.const 0) (local.get $at))
               (i32.store (i32.const 4) (local.get $size))
               (drop (call $fd_write (local.get $stream) (i32.const 0) (i32.const 1) (i32.const 8))))
             (func $read (param $at i32) (param $room i32) (result i32)
               (i32.store (i32.const 0) (local.get $at))
               (i32.store (i32.const 4) (local.get $room))
               (drop (call $fd_read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 8)))
               (i32.load (i32.const 8)))
             {body})"#
    );
    wat::parse_str(text).unwrap()
}

fn hex(text: &str) -> String {
    text.bytes().map(|byte| format!("\\{byte:02x}")).collect()
}

fn octal(text: &str) -> String {
    text.bytes().map(|byte| format!("\\0{byte:03o}")).collect()
}
