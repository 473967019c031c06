//! Servers that `hookbox hook --serve` starts, and servers that end by themselves.

use std::os::unix::process::CommandExt as _;

use super::*;

/// A folder for a server that somebody may start, which ends with the test.
struct Nest {
    folder: tempfile::TempDir,
}

impl Nest {
    fn new() -> Self {
        warm_up();
        let folder = tempfile::tempdir().unwrap();
        Self { folder }
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("run/serve.sock")
    }

    fn note(&self) -> PathBuf {
        self.socket().with_extension("started")
    }

    /// An event that may start a server.
    fn hook(&self, input: &str, more: &[(&str, &str)]) -> Left {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hookbox"));
        command
            .args(["hook", "claude-code", "--event", "PreToolUse", "--serve"])
            .env("HOOKBOX_SERVE", self.socket())
            .env("HOOKBOX_SECRET_KEY", "of this session")
            .envs(more.iter().copied())
            .current_dir(self.folder.path());
        left(command, input.as_bytes())
    }

    /// The processes that serve here.
    fn servers(&self) -> Vec<u32> {
        let socket = self.socket().display().to_string();
        let ids = std::fs::read_dir("/proc").unwrap().filter_map(|entry| {
            let id: u32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
            let line = std::fs::read(format!("/proc/{id}/cmdline")).ok()?;
            let line = String::from_utf8_lossy(&line).into_owned();
            (line.contains("\0serve\0") && line.contains(&socket)).then_some(id)
        });
        ids.collect()
    }

    fn ask(&self, target: &str) -> Answer {
        let token = std::fs::read_to_string(self.socket().with_extension("token")).unwrap();
        let head = format!(
            "Host: localhost\r\nAuthorization: Bearer {}\r\n",
            token.trim()
        );
        let mut stream = std::os::unix::net::UnixStream::connect(self.socket()).unwrap();
        send(&mut stream, &request(&format!("GET {target}"), &head, b""))
    }
}

impl Drop for Nest {
    fn drop(&mut self) {
        for id in self.servers() {
            let _ = Command::new("kill")
                .args(["-KILL", &id.to_string()])
                .status();
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn the_first_event_starts_a_server_and_the_others_ask_it() {
    let (project, nest) = (guarded(), Nest::new());
    let input = bash(project.path(), "rm -rf build");
    let first = nest.hook(&input, &[]);
    assert_eq!(first.code, Some(2));
    until("the server", || nest.socket().exists());
    for _ in 0..3 {
        assert_eq!(nest.hook(&input, &[]), first);
    }
    let metrics = nest.ask("/metrics").body;
    let counted = "hookboxserve_requests_total{route=\"hook\",status=\"200\"} 3\n";
    assert!(metrics.contains(counted), "{metrics}");

    let [id] = nest.servers()[..] else {
        panic!("{:?}", nest.servers());
    };
    let of = |name: &str| std::fs::read(format!("/proc/{id}/{name}")).unwrap();
    let known = String::from_utf8(of("environ")).unwrap();
    assert!(
        known.contains("PATH=") && !known.contains("HOOKBOX_SECRET"),
        "{known}"
    );
    let place = std::fs::read_link(format!("/proc/{id}/cwd")).unwrap();
    assert_eq!(place, Path::new("/"));
    let told = String::from_utf8(of("stat")).unwrap();
    let group = told.rsplit(") ").next().unwrap().split(' ').nth(2);
    assert_eq!(group, Some(id.to_string().as_str()), "agents end groups");
    let outputs = ["fd/0", "fd/1", "fd/2"];
    for output in outputs {
        let leads = std::fs::read_link(format!("/proc/{id}/{output}")).unwrap();
        assert_eq!(
            leads,
            Path::new("/dev/null"),
            "agents wait for outputs to close"
        );
    }
}

#[test]
#[cfg(target_os = "linux")]
fn events_at_once_start_one_server() {
    let (project, nest) = (guarded(), Nest::new());
    let input = bash(project.path(), "rm -rf build");
    std::thread::scope(|scope| {
        let all: Vec<_> = (0..6)
            .map(|_| scope.spawn(|| nest.hook(&input, &[]).code))
            .collect();
        for one in all {
            assert_eq!(one.join().unwrap(), Some(2));
        }
    });
    until("the server", || nest.socket().exists());
    until("the end of all others", || nest.servers().len() == 1);
    assert_eq!(nest.ask("/v1/health").status, 200);
}

#[test]
#[cfg(target_os = "linux")]
fn nobody_is_started_where_that_is_not_wanted() {
    let (project, nest) = (guarded(), Nest::new());
    let input = bash(project.path(), "rm -rf build");
    // Where it is switched off, and where a process hook would have to end it.
    for more in [("HOOKBOX_SERVE", "off"), ("HOOKBOX_CALL", "1")] {
        assert_eq!(nest.hook(&input, &[more]).code, Some(2));
    }
    let plain = hook(
        nest.socket().to_str().unwrap(),
        &["claude-code"],
        input.as_bytes(),
        nest.folder.path(),
    );
    assert_eq!(plain.code, Some(2));
    assert!(!nest.note().exists() && nest.servers().is_empty());
}

#[test]
fn a_server_that_is_there_and_declines_is_not_started_again() {
    let script = "def handle(event, payload):\n    return block(env('HOME'))";
    let more = "priority: 10\ngrant: { env: [HOME] }";
    let project = Project::with(&[("probe", &hook_file("tool.pre", more, script))]);
    let serving = Serving::start(&[]);
    let input = bash(project.path(), "ls");
    let asked = serving.hook(
        true,
        &["claude-code", "--serve"],
        input.as_bytes(),
        project.path(),
    );
    assert_eq!(asked.code, Some(2));
    assert!(!serving.socket.with_extension("started").exists());
}

#[test]
#[cfg(target_os = "linux")]
fn one_that_cannot_start_is_not_tried_at_every_event() {
    let (project, nest) = (guarded(), Nest::new());
    let input = bash(project.path(), "rm -rf build");
    let run = nest.folder.path().join("run");
    std::fs::create_dir(&run).unwrap();
    std::fs::write(nest.socket(), "not a socket").unwrap();
    let tried = || nest.note().metadata().unwrap().modified().unwrap();
    assert_eq!(nest.hook(&input, &[]).code, Some(2));
    let first = tried();
    assert_eq!(nest.hook(&input, &[]).code, Some(2));
    assert_eq!(tried(), first);
    // A minute later, and after a clock that was wrong.
    let minutes = Duration::from_secs(120);
    for when in [first - minutes, first + minutes] {
        let file = std::fs::File::options().write(true).open(nest.note());
        file.unwrap().set_modified(when).unwrap();
        assert_eq!(nest.hook(&input, &[]).code, Some(2));
        assert_ne!(tried(), when);
    }
    assert_eq!(std::fs::read(nest.socket()).unwrap(), b"not a socket");
    // Where nothing can be noted, or others could, nobody is started, and the answer is the same.
    until("the end of those that tried", || nest.servers().is_empty());
    std::fs::remove_dir_all(&run).unwrap();
    std::fs::create_dir(&run).unwrap();
    std::fs::set_permissions(&run, std::fs::Permissions::from_mode(0o777)).unwrap();
    assert_eq!(nest.hook(&input, &[]).code, Some(2));
    assert_eq!(std::fs::read_dir(&run).unwrap().count(), 0);
    std::fs::remove_dir_all(&run).unwrap();
    std::fs::write(&run, "a file").unwrap();
    assert_eq!(nest.hook(&input, &[]).code, Some(2));
}

#[test]
fn who_is_not_asked_any_more_ends_after_what_runs() {
    let (project, server, go) = waiting();
    let mut serving = Serving::start(&["--idle", "1"]);
    let mut stream = serving.connect();
    let body = event(project.path(), "ls");
    let request = serving.request("POST /v1/dispatch", body.as_bytes());
    stream.write_all(&request).unwrap();
    until("the hook's request", || !server.arrived().is_empty());
    std::thread::sleep(Duration::from_secs(3));
    assert!(serving.child.try_wait().unwrap().is_none());
    go.send(()).unwrap();
    assert_eq!(read(&mut stream).unwrap().json()["reason"], "go");
    assert!(serving.wait().success());
    assert!(!serving.socket.exists());
}

#[test]
fn who_finds_its_program_replaced_ends_and_others_answer() {
    let project = guarded();
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("hookbox");
    std::fs::copy(env!("CARGO_BIN_EXE_hookbox"), &program).unwrap();
    let input = bash(project.path(), "rm -rf build");
    for idle in [true, false] {
        let socket = folder.path().join(format!("{idle}/serve.sock"));
        let mut command = Command::new(&program);
        command.arg("serve").arg("--socket").arg(&socket);
        if idle {
            command.args(["--idle", "1000"]);
        }
        let mut child = command
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .unwrap();
        until("the server", || socket.exists());
        let ask = || {
            let socket = socket.to_str().unwrap();
            hook(socket, &["claude-code"], input.as_bytes(), project.path())
        };
        let before = ask();
        assert_eq!(before.code, Some(2));
        let new = folder.path().join("new");
        std::fs::copy(env!("CARGO_BIN_EXE_hookbox"), &new).unwrap();
        std::fs::rename(new, &program).unwrap();
        assert_eq!(ask(), before);
        if idle {
            assert!(child.wait().unwrap().success());
            assert!(!socket.exists());
        } else {
            // Whoever started it by hand ends it.
            assert!(child.try_wait().unwrap().is_none());
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
}

#[test]
fn who_is_asked_by_another_version_ends_and_who_has_no_token_cannot_end_it() {
    let mut serving = Serving::start(&["--idle", "1000"]);
    let version = "hookbox-version: 0.0.0\r\n";
    let wrong = format!("Host: localhost\r\nAuthorization: Bearer x\r\n{version}");
    let asked = request("GET /v1/health", &wrong, b"");
    assert_eq!(send(&mut serving.connect(), &asked).kind(), "401 token");
    assert_eq!(serving.get("/v1/health").status, 200);
    let right = format!(
        "Host: localhost\r\nAuthorization: Bearer {}\r\n{version}",
        serving.token
    );
    let asked = request("GET /v1/health", &right, b"");
    assert_eq!(send(&mut serving.connect(), &asked).kind(), "409 version");
    assert!(serving.wait().success());
}
