//! What confined programs can and cannot do.

use std::net::TcpListener;

use super::*;

const SYSTEM: [&str; 6] = ["/usr", "/bin", "/lib", "/lib64", "/etc", "/dev"];

/// Returns whether the kernel enforces all of it; says so if it does not.
fn enforced(confinement: &Confinement) -> bool {
    match confinement_available(confinement) {
        Ok(()) => true,
        Err(missing) => {
            eprintln!("SKIPPED, nothing was proved: {missing}");
            false
        }
    }
}

/// Runs a program; this process has to be as free afterwards as it was before.
fn run_confined(process: &Process, confinement: &Confinement) -> Ended {
    let before = privileges();
    let ended = run_with(process, b"", AMPLE, confinement).unwrap();
    assert_eq!(privileges(), before);
    let room = tempfile::tempdir().unwrap();
    fs::write(room.path().join("file"), "free").unwrap();
    assert_eq!(fs::read(room.path().join("file")).unwrap(), b"free");
    ended
}

/// Whether this thread, and the process's first, may gain rights.
fn privileges() -> (bool, String) {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("NoNewPrivs"));
    let own = rustix::thread::no_new_privs().unwrap();
    (own, line.unwrap().to_owned())
}

fn system_and(more: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = SYSTEM.iter().map(PathBuf::from).collect();
    paths.push(more.to_owned());
    paths
}

#[test]
fn nobody_gains_rights() {
    let process = bash("grep NoNewPrivs /proc/self/status");
    let ended = run_confined(&process, &Confinement::default());
    assert_eq!(ended.stdout, b"NoNewPrivs:\t1\n");
}

#[test]
fn reading_is_confined() {
    let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let secret = outside.path().join("secret");
    fs::write(&secret, "secret").unwrap();
    fs::write(inside.path().join("open"), "open").unwrap();
    let confinement = Confinement {
        read: Some(system_and(inside.path())),
        ..Confinement::default()
    };
    if !enforced(&confinement) {
        return;
    }
    let text = format!(
        "cat open; cat {0} || echo; ls {1} || echo none; echo new >{1}/written",
        secret.display(),
        outside.path().display()
    );
    let ended = run_confined(&bash_in(inside.path(), &text), &confinement);
    assert_eq!(ended.stdout, b"open\nnone\n");
    // Writing was not mentioned.
    assert_eq!(fs::read(outside.path().join("written")).unwrap(), b"new\n");
}

#[test]
fn who_may_only_not_read_everywhere_can_move_files() {
    let inside = tempfile::tempdir().unwrap();
    let confinement = Confinement {
        read: Some(system_and(inside.path())),
        ..Confinement::default()
    };
    if !enforced(&confinement) {
        return;
    }
    let text = "mkdir a b; echo x >a/f; ln a/f b/g; cat b/g";
    let ended = run_confined(&bash_in(inside.path(), text), &confinement);
    assert_eq!((ended.exit, ended.stdout), (Exit::Code(0), b"x\n".to_vec()));
}

#[test]
fn a_program_that_may_not_be_read_does_not_start() {
    let inside = tempfile::tempdir().unwrap();
    let confinement = Confinement {
        read: Some(vec![inside.path().into()]),
        ..Confinement::default()
    };
    if !enforced(&confinement) {
        return;
    }
    let ran = run_with(&bash("exit 0"), b"", AMPLE, &confinement);
    let Err(ProcessError::CannotStart { why, .. }) = ran else {
        panic!("expected that it cannot start, not {ran:?}");
    };
    assert!(why.contains("what confines it allows"), "{why}");
}

#[test]
fn writing_is_confined() {
    let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let kept = outside.path().join("kept");
    fs::write(&kept, "kept").unwrap();
    let confinement = Confinement {
        write: Some(vec![inside.path().into()]),
        ..Confinement::default()
    };
    if !enforced(&confinement) {
        return;
    }
    let body = "mkdir a; echo x >a/f; mv a/f g; rm -r a; cat g; echo quiet >/dev/null; echo heard >/dev/stderr
        rm $KEPT; echo y >$KEPT; truncate -s 0 $KEPT; mv g $KEPT.new; mkdir $KEPT.dir; cat $KEPT";
    let body = body.replace("$KEPT", &kept.display().to_string());
    let ended = run_confined(&bash_in(inside.path(), &body), &confinement);
    assert_eq!(text(&ended.stdout), "x\nkept");
    assert!(text(&ended.stderr).starts_with("heard\n"));
    let left: Vec<_> = fs::read_dir(outside.path()).unwrap().collect();
    assert_eq!(left.len(), 1);
    assert_eq!(fs::read(&kept).unwrap(), b"kept");
}

#[test]
fn writing_nowhere_leaves_the_null_device() {
    let confinement = Confinement {
        read: Some(system_and(Path::new("/proc"))),
        write: Some(Vec::new()),
        ..Confinement::default()
    };
    if !enforced(&confinement) {
        return;
    }
    let text = "echo x >/dev/null && cat </dev/null && sleep 0.01 & wait; echo y >/tmp/x.$$ || echo refused";
    assert_eq!(run_confined(&bash(text), &confinement).stdout, b"refused\n");
}

#[test]
fn connections_are_confined() {
    let (open, closed) = (listener(), listener());
    let confinement = Confinement {
        connect: Some(vec![open.1]),
        ..Confinement::default()
    };
    if !enforced(&confinement) {
        return;
    }
    let text = format!(
        "for port in {} {}; do (exec 3<>/dev/tcp/127.0.0.1/$port) && echo yes || echo no; done",
        open.1, closed.1
    );
    assert_eq!(
        run_confined(&bash(&text), &confinement).stdout,
        b"yes\nno\n"
    );
    assert_eq!(run(&bash(&text)).unwrap().stdout, b"yes\nyes\n");
}

fn listener() -> (TcpListener, u16) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    (listener, port)
}

#[test]
fn all_at_once() {
    let inside = tempfile::tempdir().unwrap();
    let confinement = Confinement {
        read: Some(system_and(inside.path())),
        write: Some(vec![inside.path().into(), "/not/there".into()]),
        connect: Some(Vec::new()),
    };
    if !enforced(&confinement) {
        return;
    }
    let process = script(
        inside.path(),
        "#!/usr/bin/env bash\necho $(cat hook | wc -l) >out; cat out\n",
    );
    assert_eq!(run_confined(&process, &confinement).stdout, b"2\n");
}

#[test]
fn nothing_is_missing_where_nothing_is_confined() {
    assert_eq!(confinement_available(&Confinement::default()), Ok(()));
}
