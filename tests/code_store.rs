//! The store of compiled code: private, whole or not there, and shared.

mod support;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use hookbox::Runtime;
use hookbox::decision::Ruling;
use hookbox::sandbox::compiled::{CodeStore, Progress};
use support::{Project, answer, command, component, component_project};

fn block_project() -> Project {
    component_project(&component(&answer(1, "no")), "")
}

/// Loads the project with the store and returns how often something was compiled.
fn compilations(project: &Project, store: &CodeStore) -> usize {
    let compiled = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&compiled);
    let runtime = Runtime::builder(project.path())
        .code_store(store.clone())
        .on_progress(Arc::new(move |progress| {
            if matches!(progress, Progress::Compiling { .. }) {
                counter.fetch_add(1, Ordering::Relaxed);
            }
        }))
        .load()
        .unwrap();
    let outcome = runtime.dispatch("tool.pre", command("ls")).unwrap();
    assert_eq!(outcome.decision, Ruling::Block);
    compiled.load(Ordering::Relaxed)
}

fn compiled_files(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut files: Vec<_> = std::fs::read_dir(folder.join("compiled"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "cwasm"))
        .collect();
    files.sort();
    files
}

#[test]
fn nothing_is_compiled_twice() {
    let folder = tempfile::tempdir().unwrap();
    let store = CodeStore::open(folder.path()).unwrap();
    let project = block_project();
    assert_eq!(compilations(&project, &store), 1);
    assert_eq!(compilations(&project, &store), 0);
    let other = component_project(&component(&answer(1, "other")), "");
    assert_eq!(compilations(&other, &store), 1);
    assert_eq!(compiled_files(folder.path()).len(), 2);
}

#[test]
fn code_that_is_used_counts_as_new() {
    let folder = tempfile::tempdir().unwrap();
    let store = CodeStore::open(folder.path()).unwrap();
    let project = block_project();
    compilations(&project, &store);
    let [file] = &compiled_files(folder.path())[..] else {
        panic!("{:?}", compiled_files(folder.path()));
    };
    let age = || {
        std::fs::metadata(file)
            .unwrap()
            .modified()
            .unwrap()
            .elapsed()
            .unwrap()
    };
    let day = std::time::Duration::from_secs(24 * 60 * 60);
    let old = std::time::SystemTime::now() - day;
    std::fs::File::open(file)
        .unwrap()
        .set_modified(old)
        .unwrap();
    assert!(age() >= day);
    assert_eq!(compilations(&project, &store), 0);
    assert!(age() < day);
}

#[test]
fn without_a_store_everything_still_works() {
    assert_eq!(compilations(&block_project(), &CodeStore::nowhere()), 1);
}

#[test]
fn a_file_that_is_not_compiled_code_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let store = CodeStore::open(folder.path()).unwrap();
    let project = block_project();
    compilations(&project, &store);
    let file = &compiled_files(folder.path())[0];
    std::fs::write(file, b"garbage").unwrap();
    assert_eq!(compilations(&project, &store), 1);
    assert_eq!(compilations(&project, &store), 0);
}

#[test]
fn many_at_once_compile_once() {
    let folder = tempfile::tempdir().unwrap();
    let store = CodeStore::open(folder.path()).unwrap();
    let project = block_project();
    let total = Mutex::new(0);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| *total.lock().unwrap() += compilations(&project, &store));
        }
    });
    assert_eq!(total.into_inner().unwrap(), 1);
    assert_eq!(compiled_files(folder.path()).len(), 1);
}

#[test]
fn many_processes_at_once_agree() {
    let folder = tempfile::tempdir().unwrap();
    let project = block_project();
    let spawn = || {
        std::process::Command::new(env!("CARGO_BIN_EXE_hookbox"))
            .args([
                "run",
                "tool.pre",
                "--payload",
                "{\"name\":\"x\"}",
                "--project",
            ])
            .arg(project.path())
            .env("HOOKBOX_CACHE_DIR", folder.path())
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap()
    };
    let children: Vec<_> = (0..6).map(|_| spawn()).collect();
    for mut child in children {
        assert_eq!(child.wait().unwrap().code(), Some(2));
    }
    assert_eq!(compiled_files(folder.path()).len(), 1);
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    fn chmod(path: &std::path::Path, mode: u32) {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn the_folder_is_private_from_the_start() {
        let folder = tempfile::tempdir().unwrap();
        CodeStore::open(&folder.path().join("new")).unwrap();
        let mode = std::fs::metadata(folder.path().join("new/compiled"))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o700);
    }

    #[test]
    fn a_folder_others_can_write_to_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        CodeStore::open(folder.path()).unwrap();
        for mode in [0o777, 0o770, 0o702] {
            chmod(&folder.path().join("compiled"), mode);
            let error = CodeStore::open(folder.path()).unwrap_err().to_string();
            assert!(error.contains("other users can write to it"), "{error}");
            assert!(error.contains("set HOOKBOX_CACHE_DIR"), "{error}");
        }
        chmod(&folder.path().join("compiled"), 0o755);
        CodeStore::open(folder.path()).unwrap();
    }

    #[test]
    fn a_folder_in_a_folder_others_can_write_to_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().join("shared/cache");
        std::fs::create_dir_all(&base).unwrap();
        CodeStore::open(&base).unwrap();
        chmod(&folder.path().join("shared"), 0o777);
        let error = CodeStore::open(&base).unwrap_err().to_string();
        assert!(
            error.contains("shared can be written to by other users"),
            "{error}"
        );
        // As with /tmp, where entries belong to those who made them.
        chmod(&folder.path().join("shared"), 0o1777);
        CodeStore::open(&base).unwrap();
    }

    #[test]
    fn a_link_instead_of_a_folder_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        symlink(elsewhere.path(), folder.path().join("compiled")).unwrap();
        let error = CodeStore::open(folder.path()).unwrap_err().to_string();
        assert!(error.contains("it is not a directory"), "{error}");
    }

    #[test]
    fn a_folder_of_another_user_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        CodeStore::open(folder.path()).unwrap();
        let compiled = folder.path().join("compiled");
        // Only a privileged process can give a folder away.
        if std::os::unix::fs::chown(&compiled, Some(12_345), None).is_err() {
            return;
        }
        let error = CodeStore::open(folder.path()).unwrap_err().to_string();
        assert!(error.contains("it belongs to another user"), "{error}");
    }

    #[test]
    fn a_file_others_can_write_to_is_compiled_anew() {
        let folder = tempfile::tempdir().unwrap();
        let store = CodeStore::open(folder.path()).unwrap();
        let project = block_project();
        compilations(&project, &store);
        chmod(&compiled_files(folder.path())[0], 0o666);
        assert_eq!(compilations(&project, &store), 1);
        assert_eq!(compilations(&project, &store), 0);
    }

    #[test]
    fn a_link_to_a_file_is_compiled_anew() {
        let folder = tempfile::tempdir().unwrap();
        let store = CodeStore::open(folder.path()).unwrap();
        let project = block_project();
        compilations(&project, &store);
        let file = &compiled_files(folder.path())[0];
        let moved = folder.path().join("moved");
        std::fs::rename(file, &moved).unwrap();
        symlink(&moved, file).unwrap();
        assert_eq!(compilations(&project, &store), 1);
    }
}
