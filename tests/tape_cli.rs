//! Tapes on the command line: what people, programs and CI read.

mod support;

use std::path::Path;
use std::process::Command;

use insta::assert_snapshot;
use regex::Regex;
use serde_json::{Value, json};
use support::{Project, command, hook_file, hookbox, session};

const GUARD: &str = "def handle(event, payload):\n    cmd = payload['args']['command']\n    if 'rm -rf' in cmd:\n        return block('no rm')\n    if 'deploy' in cmd:\n        return ask('deploy?')\n    if 'sudo ' in cmd:\n        return modify({'args': {'command': cmd.replace('sudo ', '')}})\n    log('seen')\n    return allow()";

/// A project with a guard, and a tape of five events.
fn recorded() -> Project {
    let project = Project::script(GUARD);
    record(
        &project,
        &["ls", "rm -rf /", "deploy", "sudo ls", "rm -rf /"],
        "run.tape",
    );
    project
}

fn record(project: &Project, commands: &[&str], tape: &str) {
    for one in commands {
        let payload = command(one).to_string();
        session(
            project.path(),
            &[
                "run",
                "tool.pre",
                "--payload",
                &payload,
                "--tape",
                tape,
                "--ask",
                "later",
            ],
        );
    }
}

/// The same project with another rule.
fn changed() -> Project {
    let script = GUARD
        .replace("'rm -rf' in cmd", "'rm -rf' in cmd and 'x' in cmd")
        .replace("'sudo '", "'sudo'");
    let script = script.replace(
        "    log('seen')\n",
        "    if cmd == 'ls':\n        return block('no ls')\n",
    );
    Project::script(&script)
}

/// Takes out what differs from run to run.
fn stable(text: &str) -> String {
    let mut text = text.to_owned();
    for (pattern, with) in [
        (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}", "TIME"),
        (r" *\d+\.\d\d ms", " T ms"),
        (r"\d+(\.\d+)? (B|KiB|MiB)\b", "SIZE"),
        // Times have as many digits as they take.
        (r"\(\d+ bytes of it", "(SIZE of it"),
        (r"[0-9a-f]{64}", "HASH"),
        (r"\([0-9a-f]{12}\)", "(HASH)"),
        (r"/[^ ]*/\.tmp\w+", "DIR"),
    ] {
        text = Regex::new(pattern)
            .unwrap()
            .replace_all(&text, with)
            .into_owned();
    }
    text
}

fn run(folder: &Path, arguments: &[&str]) -> String {
    stable(&session(folder, arguments))
}

#[test]
fn people_read_a_replay_as_a_timeline() {
    let project = recorded();
    assert_snapshot!(run(project.path(), &["replay", "run.tape"]));
    assert_snapshot!(run(project.path(), &["replay", "run.tape", "--quiet"]));
    assert_snapshot!(run(project.path(), &["tape", "show", "run.tape"]));
    assert_snapshot!(run(
        project.path(),
        &["tape", "show", "run.tape", "--decision", "modify", "-v"]
    ));
    assert_snapshot!(run(project.path(), &["tape", "stats", "run.tape"]));
    assert_snapshot!(run(project.path(), &["tape", "verify", "run.tape"]));
}

#[test]
fn people_read_what_a_change_would_have_done_as_a_table() {
    let (project, other) = (recorded(), changed());
    let other = other.path().to_str().unwrap();
    assert_snapshot!(run(
        project.path(),
        &["replay", "run.tape", "--against", other]
    ));
    assert_snapshot!(run(
        project.path(),
        &["replay", "run.tape", "--check", "-p", other]
    ));
    let code = |word: &str| {
        let tape = project.path().join("run.tape");
        let arguments = [
            "replay",
            tape.to_str().unwrap(),
            "--against",
            other,
            "--fail-on",
            word,
        ];
        hookbox(&arguments).status.code()
    };
    assert_eq!(code("any"), Some(1));
    assert_eq!(code("newly-allowed"), Some(1));
    assert_eq!(code("new request"), Some(0));
}

#[test]
fn mistakes_say_what_to_do() {
    let project = recorded();
    project.file("empty/readme.txt", "");
    project.file("text.tape", "hello\n");
    let mut told = String::new();
    for arguments in [
        &["replay"][..],
        &["replay", "absent.tape"],
        &["replay", "empty"],
        &["replay", "text.tape"],
        &["replay", "run.tape", "--shard", "5/4"],
        &[
            "replay",
            "run.tape",
            "--against",
            ".",
            "--fail-on",
            "newly-alowed",
        ],
        &["tape", "verify", "run.tape", "--head", "00"],
        &["tape", "redact", "run.tape", "-o", "out.tape"],
        &[
            "tape",
            "redact",
            "run.tape",
            "-o",
            "out.tape",
            "--pointer",
            "/prev",
        ],
        &[
            "tape",
            "redact",
            "run.tape",
            "-o",
            "out.tape",
            "--pattern",
            "(",
        ],
        &[
            "tape",
            "cut",
            "run.tape",
            "-o",
            "out.tape",
            "--dispatches",
            "100-",
        ],
        &["tape", "cut", "run.tape", "-o", "run.tape"],
        &[
            "tape",
            "cut",
            "run.tape",
            "-o",
            "out.tape",
            "--dispatches",
            "8-3",
        ],
    ] {
        told += &format!("$ hookbox {}\n", arguments.join(" "));
        told += &run(project.path(), arguments);
        assert!(!project.path().join("out.tape").exists());
    }
    assert_snapshot!(told);
}

#[test]
fn programs_read_one_object_for_each_event() {
    let project = recorded();
    let lines = |arguments: &[&str]| -> Vec<Value> {
        let output = hookbox(arguments);
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    };
    let tape = project.path().join("run.tape");
    let tape = tape.to_str().unwrap();
    let events = lines(&["replay", tape, "--json"]);
    let told: Vec<(&str, &str)> = events
        .iter()
        .map(|event| {
            (
                event["decision"].as_str().unwrap(),
                event["steps"][0]["hook"].as_str().unwrap(),
            )
        })
        .collect();
    let words = ["allow", "block", "ask", "modify", "block"];
    assert_eq!(told, words.map(|word| (word, "probe")));
    assert_eq!(events[3]["payload"]["args"]["command"], "ls");
    assert_eq!(events[3]["payload_before"]["args"]["command"], "sudo ls");
    let other = changed();
    let against = lines(&[
        "replay",
        tape,
        "--json",
        "--against",
        other.path().to_str().unwrap(),
    ]);
    assert_eq!(against[0]["verdict"], "newly blocked");
    assert_eq!(against[0]["today"]["reason"], "no ls");
    let verified = hookbox(&["tape", "verify", tape, "--json"]);
    let verified: Value = serde_json::from_slice(&verified.stdout).unwrap();
    assert_eq!(verified["whole"], true);
    assert_eq!(verified["events"], 5);
    let again = hookbox(&[
        "tape",
        "verify",
        tape,
        "--head",
        verified["head"].as_str().unwrap(),
    ]);
    assert_eq!(again.status.code(), Some(0));
    let stats = hookbox(&["tape", "stats", tape, "--json"]);
    let stats: Value = serde_json::from_slice(&stats.stdout).unwrap();
    assert_eq!(
        stats["decisions"],
        json!({"allow": 1, "ask": 1, "block": 2, "modify": 1})
    );
    assert_eq!(stats["hooks"]["probe"]["vetoed"], 3);
}

#[test]
fn hn_052_two_replays_are_the_same_bytes() {
    let project = recorded();
    let tape = project.path().join("run.tape");
    let once = || hookbox(&["replay", tape.to_str().unwrap(), "--json"]).stdout;
    let first = once();
    std::fs::remove_dir_all(project.path().join(".harness")).unwrap();
    assert!(!first.is_empty());
    assert_eq!(first, once());
}

#[test]
fn ci_reads_junit_and_annotations() {
    let (project, other) = (recorded(), changed());
    let report = project.path().join("report.xml");
    let told = run(
        project.path(),
        &[
            "replay",
            "run.tape",
            "--check",
            "-p",
            other.path().to_str().unwrap(),
            "--junit",
            "report.xml",
            "--github",
            "-q",
        ],
    );
    assert_eq!(
        told.matches("::error title=run.tape%3A newly").count(),
        3,
        "{told}"
    );
    let xml = std::fs::read_to_string(report).unwrap();
    let xml = Regex::new(r#"time="[\d.]+""#)
        .unwrap()
        .replace_all(&xml, r#"time="T""#);
    assert_snapshot!(stable(&xml));
}

#[test]
fn the_parts_of_a_matrix_cover_all_tapes_and_their_reports_merge() {
    let project = recorded();
    std::fs::create_dir_all(project.path().join("tapes/deep")).unwrap();
    for index in 0..5 {
        record(
            &project,
            &["ls", "rm -rf /"],
            &format!("tapes/{index}.tape"),
        );
    }
    record(&project, &["ls"], "tapes/deep/one.tape");
    let folder = project.path().join("tapes");
    let mut names = Vec::new();
    let mut parts = Vec::new();
    for part in 1..=3 {
        let shard = format!("{part}/3");
        let output = hookbox(&[
            "replay",
            folder.to_str().unwrap(),
            "--shard",
            &shard,
            "--json",
        ]);
        let text = String::from_utf8(output.stdout).unwrap();
        for line in text.lines() {
            let event: Value = serde_json::from_str(line).unwrap();
            names.push(format!("{} {}", event["tape"], event["dispatch"]));
        }
        let path = project.path().join(format!("{part}.jsonl"));
        std::fs::write(&path, text).unwrap();
        parts.push(path.display().to_string());
    }
    names.sort();
    let before = names.len();
    names.dedup();
    assert_eq!((before, names.len()), (11, 11), "{names:?}");
    let merged = run(
        project.path(),
        &[
            "replay", "--merge", &parts[0], &parts[1], &parts[2], "--junit", "all.xml", "-q",
        ],
    );
    assert_snapshot!(merged);
    let xml = std::fs::read_to_string(project.path().join("all.xml")).unwrap();
    assert_eq!(xml.matches("<testcase").count(), 11);
    assert_eq!(xml.matches("<testsuite ").count(), 6);
}

#[test]
fn what_is_cut_is_a_tape_of_its_own() {
    let project = recorded();
    let here = project.path();
    assert_snapshot!(run(
        here,
        &[
            "tape",
            "cut",
            "run.tape",
            "-o",
            "cut.tape",
            "--decision",
            "block"
        ]
    ));
    assert_snapshot!(run(here, &["replay", "cut.tape"]));
    assert_snapshot!(run(here, &["tape", "show", "cut.tape", "--dispatch", "5"]));
    assert_snapshot!(run(here, &["replay", "cut.tape", "--check", "-p", "."]));
    let verified = run(here, &["tape", "verify", "cut.tape"]);
    assert!(verified.contains("✓ whole"), "{verified}");
}

#[test]
fn what_is_redacted_is_gone_and_the_rest_is_still_proved() {
    let project = Project::script(GUARD);
    let long = format!("ls me@example.com {}", "y".repeat(600));
    record(
        &project,
        &["ls me@example.com", &long, "rm -rf /secret"],
        "run.tape",
    );
    let here = project.path();
    let head = || {
        let output = session(here, &["tape", "verify", "run.tape"]);
        output
            .lines()
            .find(|line| line.contains("last hash"))
            .map(str::to_owned)
    };
    let before = head();
    assert_snapshot!(run(
        here,
        &[
            "tape",
            "redact",
            "run.tape",
            "-o",
            "less.tape",
            "--pattern",
            r"[\w.]+@[\w.]+",
            "--pattern",
            "secret"
        ]
    ));
    let text = std::fs::read_to_string(here.join("less.tape")).unwrap();
    assert!(
        !text.contains("example.com") && !text.contains("secret"),
        "{text}"
    );
    assert!(text.contains(&"y".repeat(600)));
    assert_snapshot!(run(here, &["tape", "verify", "less.tape"]));
    assert_snapshot!(run(here, &["replay", "less.tape"]));
    assert_eq!(head(), before, "the tape itself is not touched");

    // What was redacted once can be redacted again, by pointer.
    assert_snapshot!(run(
        here,
        &[
            "tape",
            "redact",
            "less.tape",
            "-o",
            "least.tape",
            "--pointer",
            "/payload/args",
            "--pointer",
            "/payload/arguments",
            "--pointer",
            "/logs"
        ]
    ));
    let text = std::fs::read_to_string(here.join("least.tape")).unwrap();
    assert!(!text.contains("yyyy") && !text.contains("rm -rf"), "{text}");
    let verified = run(here, &["tape", "verify", "least.tape"]);
    assert!(verified.contains("✓ whole"), "{verified}");

    // A redacted record cannot be changed afterwards, nor its mark be used for edits.
    let forged = text.replacen("[redacted]", "[reducted]", 1);
    std::fs::write(here.join("forged.tape"), forged).unwrap();
    assert_snapshot!(run(here, &["tape", "verify", "forged.tape"]));
    let unsealed: String = text
        .lines()
        .filter(|line| !line.contains("\"redaction\""))
        .map(|line| format!("{line}\n"))
        .collect();
    std::fs::write(here.join("unsealed.tape"), unsealed).unwrap();
    assert_snapshot!(run(here, &["tape", "verify", "unsealed.tape"]));
}

/// With four files at most and none that may grow, a replay has its tape and nothing
/// else: no socket, no second file, nothing written.
#[test]
#[cfg(unix)]
fn a_replay_opens_nothing_but_its_tape_and_writes_nothing() {
    let project = recorded();
    let script = format!(
        "ulimit -f 0; ulimit -n 4; exec {} replay run.tape --json",
        env!("CARGO_BIN_EXE_hookbox")
    );
    let replay = |script: &str| {
        let shell = Command::new("sh")
            .args(["-c", script])
            .current_dir(project.path())
            .output();
        shell.unwrap()
    };
    let output = replay(&script);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 5);
    // The same limits do stop whoever wants more.
    let more = script.replace("replay run.tape --json", "replay run.tape --check");
    assert!(!replay(&more).status.success());
}

#[test]
fn a_tape_that_ends_too_early_is_an_error_unless_it_may() {
    let project = recorded();
    let here = project.path();
    let whole = std::fs::read(here.join("run.tape")).unwrap();
    let lines: Vec<&[u8]> = whole.split_inclusive(|&byte| byte == b'\n').collect();
    std::fs::write(here.join("open.tape"), lines[..lines.len() - 1].concat()).unwrap();
    std::fs::write(here.join("torn.tape"), &whole[..whole.len() - 300]).unwrap();
    for name in ["open.tape", "torn.tape"] {
        assert_snapshot!(name, run(here, &["replay", name, "-q"]));
        let partial = run(here, &["replay", name, "-q", "--partial"]);
        assert!(
            partial.contains("warning:") && partial.contains("[exit code 0]"),
            "{partial}"
        );
        let verified = run(here, &["tape", "verify", name]);
        assert!(verified.contains("✗"), "{verified}");
    }
}

#[test]
fn a_hook_cannot_steer_the_terminal_through_a_tape() {
    let project = Project::with(&[(
        "probe",
        &hook_file(
            "tool.pre",
            "priority: 1",
            "def handle(event, payload):\n    log('\\x1b[2J')\n    return block('\\x1b[31mred\\n::error::x')",
        ),
    )]);
    record(&project, &["ls\u{1b}[31m"], "run.tape");
    for arguments in [
        &["replay", "run.tape"][..],
        &["tape", "show", "run.tape", "-v"],
        &["tape", "stats", "run.tape"],
        &["replay", "run.tape", "--check", "--github", "-v"],
    ] {
        let told = session(project.path(), arguments);
        assert!(!told.contains('\u{1b}'), "{told:?}");
        assert!(
            !told.lines().any(|line| line.starts_with("::error::x")),
            "{told}"
        );
    }
}

#[test]
fn a_project_that_does_not_load_leaves_no_tape_behind() {
    let project = Project::script("def handle(event, payload):\n    return allow(");
    let payload = command("ls").to_string();
    let told = session(
        project.path(),
        &[
            "run",
            "tool.pre",
            "--payload",
            &payload,
            "--tape",
            "run.tape",
        ],
    );
    assert!(told.contains("syntax error"), "{told}");
    assert!(!project.path().join("run.tape").exists());
    let told = session(project.path(), &["tape", "show", "absent.tape"]);
    assert_eq!(told.matches("absent.tape").count(), 1, "{told}");
}
