//! `hookbox hook` with a server there, gone, dying, lying or of another version.

use rustix::net;

use super::*;

#[test]
fn hook_answers_the_same_with_and_without_a_server() {
    let project = guarded();
    let root = project.path();
    let elsewhere = tempfile::tempdir().unwrap();
    let serving = Serving::start(&[]);
    let gone = root.join("gone").display().to_string();
    let named = root.display().to_string();
    let prompt = |text: &str, event: &str| {
        json!({"hook_event_name": event, "session_id": "s", "cwd": root, "prompt": text})
            .to_string()
    };
    let pre: &[&str] = &["claude-code", "--event", "PreToolUse"];
    let in_gone: &[&str] = &["claude-code", "--project", &gone];
    let in_named: &[&str] = &["claude-code", "--project", &named];
    let table: Vec<(&[&str], String)> = vec![
        (pre, bash(root, "ls")),
        (pre, bash(root, "rm -rf build")),
        (pre, bash(root, "deploy")),
        (pre, bash(root, "tidy")),
        (pre, bash(root, "boom")),
        (pre, bash(elsewhere.path(), "rm -rf build")),
        (pre, String::new()),
        (pre, "no JSON".to_owned()),
        (pre, "[1, 2]".to_owned()),
        (pre, "{\"a\":1,\"a\":2}".to_owned()),
        (pre, prompt("hello", "UserPromptSubmit")),
        (
            pre,
            json!({"hook_event_name": "PreToolUse", "cwd": root}).to_string(),
        ),
        (&["claude-code"], bash(root, "rm -rf build")),
        (&["claude-code"], "{}".to_owned()),
        (&["claude-code"], prompt("a secret", "UserPromptSubmit")),
        (&["claude-code"], prompt("hello", "UserPromptSubmit")),
        (&["claude-code"], prompt("x", "Notification")),
        (&["claude-code"], prompt("x", "NoSuchEvent")),
        (&["claude-code", "--event", "Nonsense"], prompt("x", "Stop")),
        (in_gone, bash(root, "ls")),
        (in_named, bash(elsewhere.path(), "rm -rf build")),
        (
            &["claude-code", "--project", "."],
            bash(elsewhere.path(), "rm -rf build"),
        ),
        (&["claude-code", "--project", "gone"], bash(root, "ls")),
        (&["codex"], bash(root, "rm -rf build")),
        (&["codex"], bash(root, "deploy")),
        (&["codex"], bash(root, "tidy")),
        (
            &["gemini"],
            bash(root, "rm -rf build").replace("PreToolUse", "BeforeTool"),
        ),
    ];
    let known: Vec<&str> = hookbox::agent::ALL.iter().map(|agent| agent.name).collect();
    let mut served = 0;
    for (arguments, input) in &table {
        if !known.contains(&arguments[0]) {
            continue;
        }
        let here = serving.hook(false, arguments, input.as_bytes(), root);
        let there = serving.hook(true, arguments, input.as_bytes(), root);
        assert_eq!(here, there, "{arguments:?} {input}");
        served += u32::from(!arguments.contains(&"gone"));
    }
    // And it was the server that answered.
    let counted =
        format!("hookboxserve_requests_total{{route=\"hook\",status=\"200\"}} {served}\n");
    let metrics = serving.get("/metrics").body;
    assert!(metrics.contains(&counted), "{counted}{metrics}");
}

#[test]
fn hooks_that_see_the_surroundings_see_the_agents_own() {
    let script = "def handle(event, payload):\n    return block(env('HOOKBOX_SERVE'))";
    let more = "priority: 10\ngrant: { env: [HOOKBOX_SERVE] }";
    let project = Project::with(&[("probe", &hook_file("tool.pre", more, script))]);
    let serving = Serving::start(&[]);
    let input = bash(project.path(), "ls");
    let answer = serving.post("/v1/hook/claude-code", &input);
    assert_eq!(answer.kind(), "409 environment");
    let left = serving.hook(true, &["claude-code"], input.as_bytes(), project.path());
    assert!(
        left.stderr.contains(serving.socket.to_str().unwrap()),
        "{left:?}"
    );
}

/// An agent could start a server that knows nothing of what was reviewed.
#[test]
fn attack_a_server_with_other_settings_does_not_decide() {
    let project = Project::with(&[("guard", &saying("as reviewed"))]);
    let folder = tempfile::tempdir().unwrap();
    let config = |name: &str| folder.path().join(name);
    let trusted = Command::new(env!("CARGO_BIN_EXE_hookbox"))
        .args(["trust", "--strict", "--project"])
        .arg(project.path())
        .env("HOOKBOX_CONFIG_DIR", config("own"))
        .output()
        .unwrap();
    assert!(trusted.status.success(), "{trusted:?}");
    let open = "def handle(event, payload):\n    return allow()";
    project.hook("guard", &hook_file("tool.pre", "priority: 10", open));
    warm_up();
    let input = bash(project.path(), "ls");
    for (variable, value) in [
        ("HOOKBOX_CONFIG_DIR", config("empty")),
        ("HOME", config("home")),
        ("HOOKBOX_REDIS_URL", PathBuf::from("redis://127.0.0.1:1")),
    ] {
        let place = folder.path().join(variable);
        std::fs::create_dir(&place).unwrap();
        let cache = common_cache();
        let server = command(&place, &[])
            .env("HOOKBOX_CONFIG_DIR", config("own"))
            .env("HOOKBOX_CACHE_DIR", &cache)
            .env(variable, value)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let _server = Ends(server.unwrap());
        let socket = place.join("serve.sock");
        until("the server", || socket.exists());
        let mut asked = Command::new(env!("CARGO_BIN_EXE_hookbox"));
        asked
            .args(["hook", "claude-code", "--event", "PreToolUse"])
            .env("HOOKBOX_SERVE", &socket)
            .env("HOOKBOX_CONFIG_DIR", config("own"))
            .env("HOOKBOX_CACHE_DIR", &cache)
            .current_dir(project.path());
        let left = left(asked, input.as_bytes());
        assert_eq!(left.code, Some(2), "{variable}: {left:?}");
        let token = std::fs::read_to_string(socket.with_extension("token")).unwrap();
        let head = format!(
            "Host: localhost\r\nAuthorization: Bearer {}\r\n",
            token.trim()
        );
        let mut stream = std::os::unix::net::UnixStream::connect(&socket).unwrap();
        let metrics = send(&mut stream, &request("GET /metrics", &head, b"")).body;
        let declined = "hookboxserve_requests_total{route=\"hook\",status=\"409\"} 1\n";
        assert!(metrics.contains(declined), "{variable}: {metrics}");
    }
}

/// A process that ends with the test, however that ends.
struct Ends(std::process::Child);

impl Drop for Ends {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_dead_server_is_done_without_and_replaced() {
    let project = guarded();
    let mut serving = Serving::start(&[]);
    let input = bash(project.path(), "rm -rf build");
    let ask =
        |serving: &Serving| serving.hook(true, &["claude-code"], input.as_bytes(), project.path());
    let before = ask(&serving);
    assert_eq!(before.code, Some(2));
    serving.signal("-KILL");
    serving.wait();
    assert!(serving.socket.exists(), "a killed server cannot clean up");
    assert_eq!(ask(&serving), before);

    let empty = tempfile::tempdir().unwrap();
    let folder = std::mem::replace(&mut serving.folder, empty);
    let old = serving.token.clone();
    let again = Serving::start_in(folder, &[]);
    assert_ne!(again.token, old);
    assert_eq!(ask(&again), before);
    assert!(
        again
            .get("/metrics")
            .body
            .contains("route=\"hook\",status=\"200\"} 1\n")
    );
}

#[test]
fn a_broken_answer_is_none() {
    warm_up();
    let project = guarded();
    let input = bash(project.path(), "rm -rf build");
    let version = env!("CARGO_PKG_VERSION");
    let allows = r#"{"stdout":"","stderr":"","code":0}"#;
    let whole = |status: &str, version: &str, body: &str| {
        let length = body.len();
        format!(
            "HTTP/1.1 {status}\r\nhookbox-version: {version}\r\ncontent-length: {length}\r\n\r\n{body}"
        )
    };
    let good = whole("200 OK", version, allows);
    let mut answers = vec![
        String::new(),
        "nonsense\r\n\r\n".to_owned(),
        good[..good.len() - 1].to_owned(),
        good[..good.len() / 2].to_owned(),
        whole("500 Broken", version, allows),
        whole("404 Not Found", version, allows),
        whole("200 OK", "9.9.9", allows),
        whole("200 OK", version, "{}"),
        whole("200 OK", version, "null"),
        whole("200 OK", version, r#"{"stdout":"","stderr":"","code":"0"}"#),
        whole(
            "200 OK",
            version,
            r#"{"stdout":"","stderr":"","code":0,"more":1}"#,
        ),
        good.replace("hookbox-version", "x"),
        good.replace("content-length", "x"),
    ];
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("serve.sock");
    let listener = UnixListener::bind(&socket).unwrap();
    let mode = |path: &Path, mode: u32| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    mode(&socket, 0o600);
    let token = folder.path().join("serve.token");
    std::fs::write(&token, "t".repeat(64)).unwrap();
    mode(&token, 0o600);
    let next = Arc::new(Mutex::new(String::new()));
    let seen = Arc::new(Mutex::new(0));
    let (says, counts) = (Arc::clone(&next), Arc::clone(&seen));
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut room = [0; 64 << 10];
            let _ = stream.read(&mut room);
            *counts.lock().unwrap() += 1;
            let _ = stream.write_all(says.lock().unwrap().as_bytes());
        }
    });
    let ask = || {
        hook(
            socket.to_str().unwrap(),
            &["claude-code"],
            input.as_bytes(),
            project.path(),
        )
    };
    let refused = |left: &Left| left.code == Some(2) && left.stderr.contains("dangerous command");
    for answer in answers.drain(..) {
        next.lock().unwrap().clone_from(&answer);
        let left = ask();
        assert!(refused(&left), "{answer}\n{left:?}");
    }
    assert_eq!(*seen.lock().unwrap(), 13);
    // What this is a test of: a whole answer counts.
    *next.lock().unwrap() = good;
    assert_eq!(ask().code, Some(0));

    // Where somebody else could have put it, nobody is asked.
    for (path, loose, tight) in [
        (folder.path(), 0o777, 0o700),
        (&socket, 0o666, 0o600),
        (&token, 0o644, 0o600),
    ] {
        mode(path, loose);
        let left = ask();
        assert!(refused(&left), "{}: {left:?}", path.display());
        mode(path, tight);
    }
    assert_eq!(ask().code, Some(0));
    assert_eq!(*seen.lock().unwrap(), 15);
}

#[test]
fn a_place_where_one_would_wait_for_ever_is_done_without() {
    warm_up();
    let project = guarded();
    let input = bash(project.path(), "rm -rf build");
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("serve.sock");
    let _listener = UnixListener::bind(&socket).unwrap();
    let token = folder.path().join("serve.token");
    std::fs::write(&token, "t".repeat(64)).unwrap();
    for path in [&socket, &token] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).unwrap();
    }
    let ask = || {
        let left = hook(
            socket.to_str().unwrap(),
            &["claude-code"],
            input.as_bytes(),
            project.path(),
        );
        assert_eq!(left.code, Some(2), "{left:?}");
        assert!(left.stderr.contains("dangerous command"), "{left:?}");
    };
    // A queue that nobody takes anybody from.
    let mut queue = Vec::new();
    loop {
        let waiting = net::socket(net::AddressFamily::UNIX, net::SocketType::STREAM, None).unwrap();
        rustix::io::ioctl_fionbio(&waiting, true).unwrap();
        let address = net::SocketAddrUnix::new(&socket).unwrap();
        match net::connect(&waiting, &address) {
            Ok(()) => queue.push(waiting),
            Err(error) => {
                assert_eq!(error, rustix::io::Errno::AGAIN);
                break;
            }
        }
    }
    ask();
    drop(queue);
    // A token that nobody writes.
    std::fs::remove_file(&token).unwrap();
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mkfifoat(rustix::fs::CWD, &token, mode).unwrap();
    ask();
}

#[test]
fn another_version_is_not_answered() {
    let serving = Serving::start(&[]);
    let head = format!(
        "Host: localhost\r\nAuthorization: Bearer {}\r\nHookbox-Version: 0.0.1\r\n",
        serving.token
    );
    let request = request("POST /v1/hook/claude-code", &head, b"{}");
    assert_eq!(send(&mut serving.connect(), &request).kind(), "409 version");
}

#[test]
fn a_server_that_dies_with_the_question_is_done_without() {
    let (project, server, go) = waiting();
    let mut serving = Serving::start(&[]);
    let socket = serving.socket.display().to_string();
    let input = bash(project.path(), "ls");
    let left = std::thread::scope(|scope| {
        let asked =
            scope.spawn(|| hook(&socket, &["claude-code"], input.as_bytes(), project.path()));
        until("the hook's request", || server.arrived().len() == 1);
        serving.signal("-KILL");
        serving.wait();
        // The same hook, in the process that asked.
        until("the second request", || server.arrived().len() == 2);
        go.send(()).unwrap();
        go.send(()).unwrap();
        asked.join().unwrap()
    });
    assert_eq!(left.code, Some(2));
    assert!(left.stderr.starts_with("go"), "{left:?}");
}
