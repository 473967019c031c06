//! How programs start and exit.

use std::thread;

use super::*;

fn why(ran: Result<Ended, ProcessError>) -> String {
    match ran {
        Err(error @ ProcessError::CannotStart { .. }) => error.to_string(),
        other => panic!("expected that it cannot start, not {other:?}"),
    }
}

#[test]
fn exit_codes_are_passed_on() {
    for code in [0, 1, 2, 127, 255] {
        let ended = run(&bash(&format!("exit {code}"))).unwrap();
        assert_eq!(ended.exit, Exit::Code(code));
    }
}

#[test]
fn signals_are_passed_on() {
    assert_eq!(run(&bash("kill -9 $$")).unwrap().exit, Exit::Signal(9));
    assert_eq!(run(&bash("kill -TERM $$")).unwrap().exit, Exit::Signal(15));
}

#[test]
fn a_script_runs_in_its_directory_with_its_arguments() {
    let room = tempfile::tempdir().unwrap();
    let mut process = script(room.path(), "#!/bin/sh\npwd\necho \"$1|$2\"\n");
    process.args = vec!["a b".into(), "*".into()];
    process.program = "./hook".into();
    let ended = run(&process).unwrap();
    let here = room.path().canonicalize().unwrap();
    assert_eq!(text(&ended.stdout), format!("{}\na b|*\n", here.display()));
}

#[test]
fn a_bare_name_is_looked_up_in_the_path() {
    let process = Process {
        program: "bash".into(),
        args: vec!["-c".into(), "echo here".into()],
        directory: "/".into(),
    };
    assert_eq!(run(&process).unwrap().stdout, b"here\n");
    let missing = Process {
        program: "no-such-program-anywhere".into(),
        ..process
    };
    assert!(why(run(&missing)).contains("there is no such program"));
}

#[test]
fn the_environment_is_exactly_what_was_given() {
    let environment = [
        ("PATH".to_owned(), "/usr/bin:/bin".to_owned()),
        ("ODD".to_owned(), "a=b\nc".to_owned()),
    ];
    let process = Process {
        program: "/usr/bin/env".into(),
        args: vec!["-0".into()],
        directory: "/".into(),
    };
    let occasion = Occasion {
        environment: &environment,
        stdin: b"",
        deadline: Instant::now() + AMPLE,
        stdout_limit: LIMIT,
        stderr_limit: LIMIT,
    };
    let ended = process.run(&occasion, &Confinement::default()).unwrap();
    let mut variables: Vec<&str> = text(&ended.stdout).split_terminator('\0').collect();
    variables.sort_unstable();
    let (marker, others) = variables.split_first().unwrap();
    let value = marker.strip_prefix("HOOKBOX_CALL=").unwrap();
    assert!(value.len() >= 32 && value.chars().all(|c| c.is_ascii_hexdigit() || c == '.'));
    assert_eq!(others, ["ODD=a=b\nc", "PATH=/usr/bin:/bin"]);
}

#[test]
fn it_leads_a_process_group_of_its_own() {
    let ended = run(&bash(
        "echo $$; ps -o pgid= -p $$ || cut -d' ' -f5 /proc/$$/stat",
    ))
    .unwrap();
    let numbers: Vec<&str> = text(&ended.stdout).split_whitespace().collect();
    assert_eq!(numbers[0], numbers[1]);
}

#[test]
fn what_cannot_start_says_why() {
    let room = tempfile::tempdir().unwrap();
    let mut process = script(room.path(), "#!/bin/sh\n");

    process.program = room.path().join("nothing");
    assert!(why(run(&process)).contains("there is no file"));

    process.program = written(room.path(), "#!/bin/sh\n", 0o644);
    assert!(why(run(&process)).contains("chmod +x"));

    process.program = written(room.path(), "echo hello\n", 0o755);
    assert!(why(run(&process)).contains("#!/usr/bin/env bash"));

    process.program = written(room.path(), "#!/bin/sh\r\necho hello\r\n", 0o755);
    assert!(why(run(&process)).contains("LF line endings"));

    process.program = written(room.path(), "#!/bin/sh\n", 0o755);
    process.directory = room.path().join("nowhere");
    assert!(why(run(&process)).contains("nowhere, is not there"));
}

#[test]
fn a_binary_the_kernel_does_not_know_cannot_start() {
    let room = tempfile::tempdir().unwrap();
    let process = script(room.path(), "\u{7f}ELF\0\0 and then nothing of the kind");
    assert!(why(run(&process)).starts_with("cannot start"));
}

#[test]
fn a_script_that_is_being_written_is_waited_for() {
    let room = tempfile::tempdir().unwrap();
    let process = script(room.path(), "#!/bin/sh\necho written\n");
    let open = fs::OpenOptions::new()
        .append(true)
        .open(&process.program)
        .unwrap();
    let closing = thread::spawn(move || {
        thread::sleep(Duration::from_millis(20));
        drop(open);
    });
    assert_eq!(run(&process).unwrap().stdout, b"written\n");
    closing.join().unwrap();
}

#[test]
fn arguments_can_be_too_long() {
    let mut process = bash("exit 0");
    process.args.push("x".repeat(16 * 1024 * 1024).into());
    assert!(why(run(&process)).contains("too long"));
}

#[test]
fn nothing_starts_after_the_deadline() {
    let room = tempfile::tempdir().unwrap();
    let ran = run_for(&bash_in(room.path(), "touch started"), Duration::ZERO);
    assert_eq!(killed(&ran), 0);
    thread::sleep(Duration::from_millis(50));
    assert!(!room.path().join("started").exists());
}

#[test]
fn results_survive_being_written_down() {
    let ended = Ended {
        exit: Exit::Code(2),
        stdout: "text – and more".into(),
        stderr: vec![0xff, 0x00],
        stderr_cut: true,
    };
    let json = serde_json::to_string(&ended).unwrap();
    assert_eq!(
        json,
        r#"{"exit":{"code":2},"stdout":"text – and more","stderr":[255,0],"stderr_cut":true}"#
    );
    assert_eq!(serde_json::from_str::<Ended>(&json).unwrap(), ended);
    let error = ProcessError::Deadline {
        after_ms: 2000,
        killed: 1,
    };
    let json = serde_json::to_string(&error).unwrap();
    assert_eq!(serde_json::from_str::<ProcessError>(&json).unwrap(), error);
    assert!(
        error
            .to_string()
            .contains("after 2000 ms and was stopped (1 process killed)")
    );
}
