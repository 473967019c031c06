//! How a server starts, is found, and ends.

use super::*;

#[test]
fn a_second_server_says_so_and_harms_nobody() {
    let serving = Serving::start(&[]);
    let told = refused_to_start(serving.folder.path(), &[]);
    assert!(told.contains("a server already listens on"), "{told}");
    assert_eq!(serving.get("/v1/health").status, 200);
    let file = serving.socket.with_extension("token");
    assert_eq!(std::fs::read_to_string(file).unwrap().trim(), serving.token);
}

#[test]
fn files_are_the_users_own_and_go_with_the_server() {
    let mode = |path: &Path| path.symlink_metadata().unwrap().permissions().mode() & 0o777;
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("token");
    let mut serving = Serving::start_in(folder, &["--token-file", own.to_str().unwrap()]);
    let beside = serving.socket.with_extension("token");
    assert_eq!(mode(&serving.socket), 0o600);
    for file in [&beside, &own] {
        assert_eq!(mode(file), 0o600);
        let text = std::fs::read_to_string(file).unwrap();
        assert_eq!(text.trim(), serving.token);
        assert_eq!(text.trim().len(), 64);
    }
    serving.signal("-INT");
    assert!(serving.wait().success());
    assert!(!serving.socket.exists() && !beside.exists() && own.exists());
    // The next one takes the same token.
    let folder = std::mem::replace(&mut serving.folder, tempfile::tempdir().unwrap());
    let again = Serving::start_in(folder, &["--token-file", own.to_str().unwrap()]);
    assert_eq!(again.token, serving.token);
    assert_eq!(again.get("/v1/health").status, 200);
}

#[test]
fn what_runs_is_finished_when_the_server_is_told_to_end() {
    let (project, server, go) = waiting();
    let mut serving = Serving::start(&[]);
    let idle = serving.connect();
    let mut stream = serving.connect();
    let body = event(project.path(), "ls");
    let request = serving.request("POST /v1/dispatch", body.as_bytes());
    stream.write_all(&request).unwrap();
    until("the hook's request", || !server.arrived().is_empty());
    serving.signal("-TERM");
    until("the end of the socket", || !serving.socket.exists());
    go.send(()).unwrap();
    let answer = read(&mut stream).unwrap();
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.json()["reason"], "go");
    assert!(serving.wait().success());
    drop(idle);
}

#[test]
fn what_runs_is_finished_when_somebody_stops_the_server() {
    let (project, server, go) = waiting();
    let mut serving = Serving::start(&[]);
    let mut stream = serving.connect();
    let body = event(project.path(), "ls");
    let request = serving.request("POST /v1/dispatch", body.as_bytes());
    stream.write_all(&request).unwrap();
    until("the hook's request", || !server.arrived().is_empty());
    let mut stop = command(serving.folder.path(), &["--stop"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    until("the end of the socket", || !serving.socket.exists());
    assert!(serving.child.try_wait().unwrap().is_none());
    let mut told = BufReader::new(stop.stderr.take().unwrap()).lines();
    let waits = told.next().unwrap().unwrap();
    assert!(
        waits.starts_with("waiting for the server to end"),
        "{waits}"
    );
    go.send(()).unwrap();
    assert_eq!(read(&mut stream).unwrap().json()["reason"], "go");
    assert!(stop.wait().unwrap().success());
    let socket = serving.socket.display().to_string();
    let ended = told.next().unwrap().unwrap();
    assert_eq!(ended, format!("the server on {socket} has ended"));
    assert!(serving.wait().success());
    let told = refused_to_start(serving.folder.path(), &["--stop"]);
    assert!(
        told.contains(&format!("no server listens on {socket}")),
        "{told}"
    );
}

#[test]
fn doctor_says_that_a_server_is_there() {
    let mut serving = Serving::start(&[]);
    let found = |serving: &Serving| {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_hookbox"))
            .args(["doctor", "--json"])
            .current_dir(serving.folder.path())
            .env("HOOKBOX_SERVE", &serving.socket)
            .output()
            .unwrap();
        let told: Value = serde_json::from_slice(&output.stdout).unwrap();
        let findings = told["findings"].as_array().unwrap().clone();
        findings.into_iter().find(|one| one["check"] == "server")
    };
    let server = found(&serving).unwrap();
    assert_eq!(server["level"], "good");
    assert_eq!(server["do"], "to end it: hookbox serve --stop");
    let says = server["says"].as_str().unwrap();
    assert!(says.ends_with("serve.sock"), "{says}");
    let stopped = command(serving.folder.path(), &["--stop"]).status();
    assert!(stopped.unwrap().success());
    assert!(serving.wait().success());
    assert_eq!(found(&serving), None);
}

#[test]
fn who_has_no_token_cannot_stop_a_server() {
    let serving = Serving::start(&[]);
    let head = "Host: localhost\r\nAuthorization: Bearer x\r\n";
    let asked = request("POST /v1/stop", head, b"");
    assert_eq!(send(&mut serving.connect(), &asked).kind(), "401 token");
    let file = serving.socket.with_extension("token");
    std::fs::write(&file, "x".repeat(64)).unwrap();
    let told = refused_to_start(serving.folder.path(), &["--stop"]);
    assert!(told.contains("does not end: it answers 401"), "{told}");
    std::fs::remove_file(&file).unwrap();
    let told = refused_to_start(serving.folder.path(), &["--stop"]);
    assert!(told.contains("the token file"), "{told}");
    assert_eq!(serving.get("/v1/health").status, 200);
}

#[test]
fn an_answer_comes_in_time_whatever_the_hooks_do() {
    let (project, _server, go) = waiting();
    let serving = Serving::start(&[]);
    let input = bash(project.path(), "ls");
    let late = "no decision within 300ms";
    let target = "/v1/hook/claude-code?event=PreToolUse&deadline=300";
    let reply = serving.post(target, &input).json();
    assert_eq!(reply["code"], 2);
    assert!(reply["stderr"].as_str().unwrap().contains(late), "{reply}");
    let target = "/v1/agents/claude-code/PreToolUse?deadline=300";
    let reply = serving.post(target, &input).json();
    assert_eq!(reply["hookSpecificOutput"]["permissionDecision"], "deny");
    let answer = serving.post("/v1/dispatch?deadline=300", event(project.path(), "ls"));
    assert_eq!(answer.kind(), "504 late");
    let arguments = ["claude-code", "--event", "PreToolUse", "--deadline", "300"];
    let left = serving.hook(true, &arguments, input.as_bytes(), project.path());
    assert!(
        left.code == Some(2) && left.stderr.contains(late),
        "{left:?}"
    );
    assert!(serving.get("/metrics").body.contains("decision=\"late\""));
    drop(go);
}

#[test]
fn by_default_the_server_is_in_the_users_own_cache() {
    warm_up();
    let base = tempfile::tempdir().unwrap();
    let cache = match cfg!(target_os = "macos") {
        true => base.path().join("Library/Caches/hookbox"),
        false => base.path().join("hookbox"),
    };
    let own = common_cache();
    // Compiling the interpreter once for all tests is enough.
    std::fs::create_dir_all(cache.join("compiled")).unwrap();
    for entry in std::fs::read_dir(own.join("compiled")).unwrap() {
        let from = entry.unwrap().path();
        if from
            .extension()
            .is_some_and(|extension| extension == "cwasm")
        {
            let to = cache.join("compiled").join(from.file_name().unwrap());
            // Others come and go while tests run.
            let _ = std::fs::hard_link(&from, &to).or_else(|_| std::fs::copy(&from, &to).map(drop));
        }
    }
    let mut server = Command::new(env!("CARGO_BIN_EXE_hookbox"))
        .arg("serve")
        // What is empty counts as not set.
        .env("HOOKBOX_CACHE_DIR", "")
        .env("XDG_CACHE_HOME", base.path())
        .env("HOME", base.path())
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let socket = cache.join("run/serve.sock");
    until("the socket", || socket.exists());
    let directory = cache.join("run").symlink_metadata().unwrap();
    assert_eq!(directory.permissions().mode() & 0o777, 0o700);
    let project = guarded();
    let ask = |project: &Project| {
        let mut child = Command::new(env!("CARGO_BIN_EXE_hookbox"))
            .args(["hook", "claude-code"])
            .env("HOOKBOX_CACHE_DIR", &cache)
            .env_remove("HOOKBOX_SERVE")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let input = bash(project.path(), "rm -rf build");
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(input.as_bytes()).unwrap();
        drop(stdin);
        child.wait_with_output().unwrap().status.code()
    };
    assert_eq!(ask(&project), Some(2));
    let id = server.id().to_string();
    assert!(Command::new("kill").arg(&id).status().unwrap().success());
    let mut said = String::new();
    server
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut said)
        .unwrap();
    assert!(server.wait().unwrap().success());
    let real = cache.canonicalize().unwrap();
    let wanted = format!(
        "listening on {0}/run/serve.sock; the token is in {0}/run/serve.token\n",
        real.display()
    );
    assert_eq!(said, wanted);
    assert_eq!(ask(&project), Some(2));
}
