//! Processes, pipes and disks that are not what they should be. What an agent starts is
//! started here, for the first event of every agent that a tool waits at.

use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use hookbox::agent::Reply;
use serde_json::Value;

use crate::readers::Effect;
use crate::samples::{self, Sample};
use crate::support::{Project, answer, component, component_project, module};
use crate::world::{self, REASON};

/// A project whose only hook refuses every tool, and takes little to compile.
fn refusing() -> Project {
    component_project(&component(&answer(1, REASON)), "")
}

fn tools() -> Vec<Sample> {
    let mut samples = samples::guarding();
    samples.retain(|sample| sample.event.event == "tool.pre");
    samples.dedup_by_key(|sample| sample.agent.name);
    samples
}

/// The command that an agent's settings have.
fn command(sample: &Sample, project: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hookbox"));
    command
        .args(["hook", sample.agent.name, "--event", sample.event.name])
        .current_dir(project)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// The same through a shell that does something with its streams first.
fn through_shell(sample: &Sample, project: &Path, streams: &str) -> Command {
    let mut command = Command::new("sh");
    command
        .args([
            "-c",
            &format!("exec \"$0\" \"$@\" {streams}"),
            env!("CARGO_BIN_EXE_hookbox"),
        ])
        .args(["hook", sample.agent.name, "--event", sample.event.name])
        .current_dir(project)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn start(mut command: Command, input: &str) -> (Child, Option<std::process::ChildStdin>) {
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take();
    if let Some(stdin) = &mut stdin {
        // Who does not read may be gone by now.
        let _ = stdin.write_all(input.as_bytes());
    }
    (child, stdin)
}

/// Runs it to its end, with everything written and closed.
fn run(command: Command, input: &str) -> Reply {
    let (child, stdin) = start(command, input);
    drop(stdin);
    reply(child.wait_with_output().unwrap())
}

fn reply(output: Output) -> Reply {
    Reply {
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
        code: output.status.code().expect("a signal ended it"),
    }
}

/// The agent does not run the tool, and is told this.
fn assert_no(sample: &Sample, project: &Path, reply: &Reply, words: &str) {
    let read = world::read(sample.agent, sample.event, &sample.value(project), reply);
    match &read.effect {
        Effect::Blocked { reason } if reason.contains(words) => {}
        _ => panic!("{}: {reply:?} is {read:?}", sample.title()),
    }
}

/// Every agent gets the no of the hook, though the machine is changed like this.
fn hooks_decide(change: impl Fn(&mut Command)) {
    let project = refusing();
    for sample in tools() {
        let mut command = command(&sample, project.path());
        change(&mut command);
        let reply = run(command, &sample.at(project.path()));
        assert_no(&sample, project.path(), &reply, REASON);
    }
}

#[test]
fn the_hooks_decide() {
    hooks_decide(|_| {});
}

#[test]
fn nobody_is_at_home() {
    hooks_decide(|command| {
        command.env_clear();
    });
}

/// Every agent gets a no, though the hooks would have said it in other words.
fn is_a_no(change: impl Fn(&mut Command)) {
    let project = refusing();
    for sample in tools() {
        let mut command = command(&sample, project.path());
        change(&mut command);
        let reply = run(command, &sample.at(project.path()));
        assert_no(&sample, project.path(), &reply, "");
    }
}

#[test]
fn compiled_code_cannot_be_kept() {
    // Nobody can write there, also not who may do everything.
    is_a_no(|command| {
        command.env("HOOKBOX_CACHE_DIR", "/proc/hookbox");
    });
}

#[test]
#[cfg(unix)]
fn others_can_write_where_compiled_code_is_kept() {
    use std::os::unix::fs::PermissionsExt as _;
    let open = tempfile::tempdir().unwrap();
    std::fs::set_permissions(open.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    is_a_no(|command| {
        command.env("HOOKBOX_CACHE_DIR", open.path());
    });
}

#[test]
#[cfg(target_os = "linux")]
fn the_disk_is_full() {
    let disk = tempfile::tempdir().unwrap();
    let mount = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=4k,mode=700", "tmpfs"])
        .arg(disk.path())
        .output();
    if !mount.is_ok_and(|mount| mount.status.success()) {
        eprintln!("SKIPPED: no small disk can be mounted here, so a full one is not tested");
        return;
    }
    let _ = std::fs::write(disk.path().join("full"), [0; 8192]);
    hooks_decide(|command| {
        command
            .env("HOOKBOX_CACHE_DIR", disk.path())
            .env("TMPDIR", disk.path());
    });
    assert!(
        Command::new("umount")
            .arg(disk.path())
            .status()
            .unwrap()
            .success()
    );
}

#[test]
fn a_pipe_that_stays_open_behind_a_whole_payload_is_not_waited_for() {
    let project = refusing();
    for sample in tools() {
        let (child, stdin) = start(command(&sample, project.path()), &sample.at(project.path()));
        let reply = reply(child.wait_with_output().unwrap());
        drop(stdin);
        assert_no(&sample, project.path(), &reply, REASON);
    }
}

/// Starts all at once and waits for their answers, with little time for each.
fn in_a_hurry(samples: &[Sample], project: &Path, input: impl Fn(&Sample) -> String) -> Vec<Reply> {
    let start = |sample: &Sample| {
        let mut command = command(sample, project);
        command.args(["--deadline", "300"]);
        start(command, &input(sample))
    };
    let started: Vec<_> = samples.iter().map(start).collect();
    let wait = |(child, stdin): (Child, _)| {
        let reply = reply(child.wait_with_output().unwrap());
        // It was open until now.
        drop(stdin);
        reply
    };
    started.into_iter().map(wait).collect()
}

#[test]
fn a_pipe_that_nothing_comes_from_is_a_no_when_time_is_up() {
    let project = refusing();
    let samples = tools();
    for input in ["", "{\"half\": ", "{} {"] {
        let replies = in_a_hurry(&samples, project.path(), |_| input.to_owned());
        for (sample, reply) in samples.iter().zip(replies) {
            assert_no(sample, project.path(), &reply, "no decision within 300ms");
        }
    }
}

#[test]
fn a_pipe_that_never_ends_is_a_no_when_time_is_up() {
    let project = refusing();
    for sample in tools() {
        let mut command = command(&sample, project.path());
        command.args(["--deadline", "300"]);
        let (child, stdin) = start(command, "{\"half\": \"");
        let mut stdin = stdin.unwrap();
        // So little at a time that it never becomes too much, and so often that there is
        // always some.
        let drip = std::thread::spawn(move || while stdin.write_all(b"x").is_ok() {});
        let reply = reply(child.wait_with_output().unwrap());
        drip.join().unwrap();
        assert_no(&sample, project.path(), &reply, "no decision within 300ms");
    }
}

#[test]
fn an_agent_that_waits_for_nothing_goes_on_when_time_is_up() {
    let project = refusing();
    let mut samples = samples::one_each();
    samples.retain(|sample| !sample.event.guards);
    samples.dedup_by_key(|sample| sample.agent.name);
    let replies = in_a_hurry(&samples, project.path(), |_| String::new());
    for (sample, reply) in samples.iter().zip(replies) {
        let read = world::read(sample.agent, sample.event, &Value::Null, &reply);
        assert_eq!(
            read.effect,
            Effect::Proceeds,
            "{}: {reply:?}",
            sample.title()
        );
    }
}

#[test]
fn a_hook_that_hangs_is_a_no_when_time_is_up() {
    let endless = component(&module("", "", "(loop $again (br $again))"));
    let project = component_project(&endless, "limits:\n  fuel: 20G\n  wall_time: 60s");
    let samples = tools();
    let replies = in_a_hurry(&samples, project.path(), |sample| sample.at(project.path()));
    for (sample, reply) in samples.iter().zip(replies) {
        assert_no(sample, project.path(), &reply, "no decision within 300ms");
    }
}

#[test]
fn an_input_that_is_closed_is_a_no() {
    let project = refusing();
    for sample in tools() {
        for streams in ["<&-", "</dev/null"] {
            let reply = run(through_shell(&sample, project.path(), streams), "");
            assert_no(&sample, project.path(), &reply, "hookbox");
        }
    }
}

#[test]
fn an_answer_that_nobody_reads_is_a_no_by_exit_code() {
    let project = refusing();
    for sample in samples::guarding() {
        for streams in [">&-", ">/dev/full"] {
            let reply = run(through_shell(&sample, project.path(), streams), "no JSON");
            assert_eq!(reply.code, 2, "{} {streams}: {reply:?}", sample.title());
        }
    }
}

#[test]
fn an_answer_that_nobody_reads_does_not_disturb_an_agent_that_does_not_wait() {
    let project = refusing();
    for sample in samples::one_each() {
        if !sample.event.guards {
            let reply = run(through_shell(&sample, project.path(), ">&-"), "no JSON");
            assert_eq!(reply.code, 0, "{}: {reply:?}", sample.title());
        }
    }
}

#[test]
fn a_reader_that_is_gone_ends_nothing_by_a_signal() {
    let project = refusing();
    for sample in tools() {
        let mut child = command(&sample, project.path()).spawn().unwrap();
        drop(child.stdout.take());
        let mut stdin = child.stdin.take().unwrap();
        stdin
            .write_all(sample.at(project.path()).as_bytes())
            .unwrap();
        drop(stdin);
        let reply = reply(child.wait_with_output().unwrap());
        assert_eq!(reply.code, 2, "{}: {reply:?}", sample.title());
    }
}

#[test]
fn a_closed_standard_error_takes_only_the_reason_away() {
    let project = refusing();
    for sample in tools() {
        let reply = run(
            through_shell(&sample, project.path(), "2>&-"),
            &sample.at(project.path()),
        );
        let says_no = reply.code == 2 || reply.stdout.contains("cancel");
        assert!(says_no, "{}: {reply:?}", sample.title());
    }
}

#[test]
fn sixteen_agents_at_once_in_one_project_all_get_their_answer() {
    let project = refusing();
    // Nothing is compiled yet, so they all want to do it.
    let cache = tempfile::tempdir().unwrap();
    let samples = tools();
    let started: Vec<(&Sample, Child)> = (0..16)
        .map(|number| {
            let sample = &samples[number % samples.len()];
            let mut command = command(sample, project.path());
            command.env("HOOKBOX_CACHE_DIR", cache.path().join("own"));
            let (child, stdin) = start(command, &sample.at(project.path()));
            drop(stdin);
            (sample, child)
        })
        .collect();
    for (sample, child) in started {
        let reply = reply(child.wait_with_output().unwrap());
        assert_no(sample, project.path(), &reply, REASON);
    }
}
