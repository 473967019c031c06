//! Files for guests whose toolchain imports `wasi:filesystem`: granted directories,
//! read only, and no way out of them.

mod support;

use hookbox::decision::Ruling;
use hookbox::failure::Cause;
use support::wasi::{asked, ls, said, saying};
use support::{Project, component_project};

/// A project with `docs/`, and secrets around it.
fn library(guest: &[u8], more: &str) -> Project {
    let project = component_project(guest, more);
    project
        .file("secret.txt", "secret")
        .file("vault/secret.txt", "secret")
        .file("docs/a.txt", "hello")
        .file("docs/sub/b.txt", "below");
    project
}

const READ_DOCS: &str = "grant: { read: [\"docs/\"] }";

/// Opens the file the event is about, through the directory with this number.
fn open(directory: u32, oflags: u32, rights: u64) -> String {
    format!(
        "(call $path_open (i32.const {directory}) (i32.const 1) (local.get $id) (local.get $id_len)
           (i32.const {oflags}) (i64.const {rights}) (i64.const 0) (i32.const 0) (i32.const 4096))"
    )
}

const RIGHT_TO_READ: u64 = 1 << 1;
const RIGHT_TO_WRITE: u64 = 1 << 6;
const RIGHT_TO_LIST: u64 = 1 << 14;

/// Says the file the event is about, or the number of the error.
fn reader() -> Vec<u8> {
    let body = format!(
        "(local $error i32)
         (local.set $error {})
         (call $code (local.get $error))
         (if (i32.eqz (local.get $error)) (then
           (i32.store (i32.const 4100) (i32.const 4200))
           (i32.store (i32.const 4104) (i32.const 100))
           (call $code (call $fd_read (i32.load (i32.const 4096)) (i32.const 4100) (i32.const 1) (i32.const 4108)))
           (call $text (i32.const 4200) (i32.load (i32.const 4108)))))",
        open(3, 0, RIGHT_TO_READ)
    );
    saying("", &body)
}

#[test]
fn there_are_no_directories_without_a_grant() {
    let guest = saying(
        "",
        "(call $code (call $fd_prestat_get (i32.const 3) (i32.const 4096)))",
    );
    let bad_descriptor = "8";
    let project = library(&guest, "");
    assert_eq!(said(&project.dispatch("tool.pre", ls())), bad_descriptor);
    let project = library(&reader(), "");
    assert_eq!(
        said(&project.dispatch("tool.pre", asked("a.txt"))),
        bad_descriptor
    );
}

#[test]
fn a_granted_directory_has_the_name_it_is_granted_by() {
    let guest = saying(
        "",
        "(call $code (call $fd_prestat_get (i32.const 3) (i32.const 4096)))
         (call $code (call $fd_prestat_dir_name (i32.const 3) (i32.const 4104) (i32.load (i32.const 4100))))
         (call $text (i32.const 4104) (i32.load (i32.const 4100)))
         (call $byte (i32.const 32))
         (call $code (call $fd_prestat_get (i32.const 4) (i32.const 4096)))",
    );
    let project = library(&guest, READ_DOCS);
    assert_eq!(project.problems(), [""; 0]);
    assert_eq!(said(&project.dispatch("tool.pre", ls())), "0 0 docs 8");
}

#[test]
fn a_file_in_a_granted_directory_is_read() {
    let project = library(&reader(), READ_DOCS);
    let runtime = project.runtime();
    for (path, text) in [
        ("a.txt", "0 0 hello"),
        ("sub/b.txt", "0 0 below"),
        ("sub/../a.txt", "0 0 hello"),
        ("./sub/.//b.txt", "0 0 below"),
        ("c.txt", "44"),
    ] {
        let outcome = runtime.dispatch("tool.pre", asked(path)).unwrap();
        assert_eq!(said(&outcome), text, "{path}");
    }
}

#[test]
fn a_granted_directory_is_listed() {
    let body = format!(
        "(local $at i32)
         (call $code {})
         (call $code (call $fd_readdir (i32.load (i32.const 4096)) (i32.const 4200) (i32.const 500) (i64.const 0) (i32.const 4104)))
         (local.set $at (i32.const 4200))
         (loop $again
           (call $text (i32.add (local.get $at) (i32.const 24)) (i32.load offset=16 (local.get $at)))
           (call $byte (i32.const 32))
           (local.set $at (i32.add (local.get $at)
             (i32.add (i32.const 24) (i32.load offset=16 (local.get $at)))))
           (br_if $again (i32.lt_u (local.get $at)
             (i32.add (i32.const 4200) (i32.load (i32.const 4104))))))",
        open(3, 2, RIGHT_TO_LIST)
    );
    let project = library(&saying("", &body), READ_DOCS);
    let outcome = project.dispatch("tool.pre", asked("."));
    let mut seen: Vec<&str> = said(&outcome).split(' ').collect();
    seen[2..].sort_unstable();
    assert_eq!(seen, ["0", "0", ".", "..", "a.txt", "sub"]);
}

#[test]
fn only_the_granted_directory_can_be_opened_through() {
    for directory in [0, 1, 2, 4, 5, 1_000] {
        let guest = saying(
            "",
            &format!("(call $code {})", open(directory, 0, RIGHT_TO_READ)),
        );
        let outcome = library(&guest, READ_DOCS).dispatch("tool.pre", asked("a.txt"));
        assert_ne!(said(&outcome), "0", "{directory}");
    }
}

#[test]
fn nothing_can_be_written() {
    let text = r#"(data (i32.const 2048) "a.txt sub new.txt ../secret.txt")"#;
    let (file, folder, new, secret) = (
        "(i32.const 2048) (i32.const 5)",
        "(i32.const 2054) (i32.const 3)",
        "(i32.const 2058) (i32.const 7)",
        "(i32.const 2066) (i32.const 13)",
    );
    let open = |path: &str, oflags: u32, rights: u64| {
        format!(
            "(call $path_open (i32.const 3) (i32.const 1) {path} (i32.const {oflags})
               (i64.const {rights}) (i64.const 0) (i32.const 0) (i32.const 4096))"
        )
    };
    let opened = format!("(drop {})", open(file, 0, RIGHT_TO_READ));
    let (create, exclusive, truncate) = (1, 5, 8);
    let both = RIGHT_TO_READ | RIGHT_TO_WRITE;
    for (before, call) in [
        ("", open(file, 0, RIGHT_TO_WRITE)),
        ("", open(file, 0, both)),
        ("", open(file, truncate, RIGHT_TO_READ)),
        ("", open(file, truncate, both)),
        ("", open(new, create, RIGHT_TO_READ)),
        ("", open(new, create, both)),
        ("", open(new, exclusive, both)),
        ("", format!("(call $path_unlink_file (i32.const 3) {file})")),
        ("", format!("(call $path_remove_directory (i32.const 3) {folder})")),
        ("", format!("(call $path_create_directory (i32.const 3) {new})")),
        ("", format!("(call $path_rename (i32.const 3) {file} (i32.const 3) {new})")),
        ("", format!("(call $path_symlink {secret} (i32.const 3) {new})")),
        ("", format!("(call $path_link (i32.const 3) (i32.const 0) {file} (i32.const 3) {new})")),
        (
            "",
            format!("(call $path_filestat_set_times (i32.const 3) (i32.const 0) {file} (i64.const 1) (i64.const 1) (i32.const 5))"),
        ),
        (
            &opened,
            "(call $fd_filestat_set_size (i32.load (i32.const 4096)) (i64.const 0))".to_owned(),
        ),
        (
            &opened,
            "(i32.store (i32.const 4100) (i32.const 2048)) (i32.store (i32.const 4104) (i32.const 5))
             (call $fd_write (i32.load (i32.const 4096)) (i32.const 4100) (i32.const 1) (i32.const 4108))"
                .to_owned(),
        ),
    ] {
        let guest = saying(text, &format!("{before} {call} (call $code)"));
        let project = library(&guest, READ_DOCS);
        let modified = |path: &str| {
            let path = project.path().join(path);
            std::fs::metadata(path).unwrap().modified().unwrap()
        };
        let written = modified("docs/a.txt");
        assert_ne!(said(&project.dispatch("tool.pre", ls())), "0", "{call}");
        assert_eq!(modified("docs/a.txt"), written, "{call}");
        let read = |path: &str| std::fs::read_to_string(project.path().join(path)).unwrap();
        assert_eq!((read("docs/a.txt"), read("docs/sub/b.txt")), ("hello".into(), "below".into()));
        assert!(project.path().join("docs/new.txt").symlink_metadata().is_err(), "{call}");
    }
}

/// Paths by which a guest tries to leave `docs/`.
const WAYS_OUT: [&str; 12] = [
    "..",
    "../secret.txt",
    "./../secret.txt",
    "sub/../../secret.txt",
    "sub/../../vault/secret.txt",
    "../docs/../secret.txt",
    "/etc/passwd",
    "//etc/passwd",
    "/proc/self/root/etc/passwd",
    "../../../../../../../../../../etc/passwd",
    "sub/./.././../secret.txt",
    "a.txt/../../secret.txt",
];

#[test]
fn no_path_leads_out_of_a_granted_directory() {
    let project = library(&reader(), READ_DOCS);
    let runtime = project.runtime();
    for path in WAYS_OUT {
        let outcome = runtime.dispatch("tool.pre", asked(path)).unwrap();
        let text = said(&outcome);
        assert!(!text.starts_with('0') && text.len() < 3, "{path}: {text}");
    }
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn no_link_leads_out_of_a_granted_directory() {
        let project = library(&reader(), READ_DOCS);
        let docs = project.path().join("docs");
        let absolute = project.path().join("secret.txt");
        for (link, to) in [
            ("inside", "a.txt"),
            ("inside-twice", "sub/../inside"),
            ("file", "../secret.txt"),
            ("absolute", absolute.to_str().unwrap()),
            ("folder", "../vault"),
            ("above", ".."),
            ("chain", "chain-2"),
            ("chain-2", "sub/chain-3"),
            ("sub/chain-3", "../../secret.txt"),
            ("back", "../docs/a.txt"),
            ("root", "/"),
            ("proc", "/proc/self/root"),
            ("descriptors", "/proc/self/fd"),
            ("magic", "/proc/self/cwd"),
            ("loop", "loop"),
        ] {
            symlink(to, docs.join(link)).unwrap();
        }
        let runtime = project.runtime();
        for (path, out) in [
            ("inside", false),
            ("inside-twice", false),
            ("file", true),
            ("absolute", true),
            ("folder/secret.txt", true),
            ("above/secret.txt", true),
            ("above/docs/a.txt", true),
            ("sub/../folder/secret.txt", true),
            ("chain", true),
            ("back", true),
            ("root/etc/passwd", true),
            ("proc/etc/passwd", true),
            ("descriptors/0", true),
            ("magic/Cargo.toml", true),
            ("loop", true),
        ] {
            let outcome = runtime.dispatch("tool.pre", asked(path)).unwrap();
            let text = said(&outcome);
            if out {
                assert!(!text.starts_with('0') && text.len() < 3, "{path}: {text}");
            } else {
                assert_eq!(text, "0 0 hello", "{path}");
            }
        }
    }

    #[test]
    fn a_directory_put_in_the_place_of_a_granted_one_is_not_read() {
        let project = library(&reader(), READ_DOCS);
        let runtime = project.runtime();
        let docs = project.path().join("docs");
        std::fs::rename(&docs, project.path().join("moved")).unwrap();
        symlink("vault", &docs).unwrap();
        for (path, text) in [("a.txt", "0 0 hello"), ("secret.txt", "44")] {
            let outcome = runtime.dispatch("tool.pre", asked(path)).unwrap();
            assert_eq!(said(&outcome), text, "{path}");
        }
    }

    #[test]
    fn a_link_out_of_the_project_is_not_granted() {
        let outside = tempfile::tempdir().unwrap();
        let project = component_project(&reader(), READ_DOCS);
        symlink(outside.path(), project.path().join("docs")).unwrap();
        let errors = project.errors();
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert!(
            errors[0].contains("\"docs/\" is not a directory that can be read"),
            "{errors:?}"
        );
    }

    #[test]
    fn a_pipe_nobody_writes_to_ends_at_the_deadline() {
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        let project = library(
            &reader(),
            &format!("{READ_DOCS}\nlimits: {{ wall_time: 300ms }}"),
        );
        let pipe = project.path().join("docs/pipe");
        mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        let runtime = project.runtime();
        let outcome = runtime.dispatch("tool.pre", asked("pipe")).unwrap();
        assert_eq!(outcome.trace[0].cause, Some(Cause::Deadline));
        assert_eq!(outcome.decision, Ruling::Block);
        let outcome = runtime.dispatch("tool.pre", asked("a.txt")).unwrap();
        assert_eq!(said(&outcome), "0 0 hello");
    }
}

#[test]
fn an_event_from_inside_an_async_runtime_is_decided() {
    let project = library(&reader(), READ_DOCS);
    let runtime = project.runtime();
    let hear = || said(&runtime.dispatch("tool.pre", asked("a.txt")).unwrap()).to_owned();
    let single = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    assert_eq!(single.block_on(async { hear() }), "0 0 hello");
    let several = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .build()
        .unwrap();
    assert_eq!(several.block_on(async { hear() }), "0 0 hello");
    let handle = several.handle().clone();
    let inner = runtime.clone();
    let task = handle.spawn(async move {
        said(&inner.dispatch("tool.pre", asked("a.txt")).unwrap()).to_owned()
    });
    assert_eq!(several.block_on(task).unwrap(), "0 0 hello");
}

#[test]
fn many_threads_at_once_do_not_disturb_each_other() {
    let project = library(&reader(), READ_DOCS);
    for thread in 0..8 {
        project.file(&format!("docs/{thread}.txt"), format!("file {thread}"));
    }
    let runtime = project.runtime();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let runtime = &runtime;
            scope.spawn(move || {
                for _ in 0..20 {
                    let path = format!("{thread}.txt");
                    let outcome = runtime.dispatch("tool.pre", asked(&path)).unwrap();
                    assert_eq!(said(&outcome), format!("0 0 file {thread}"));
                }
            });
        }
    });
}
