//! Who may not ask, and what takes more than its share.

use super::*;

#[test]
fn who_does_not_know_the_token_learns_nothing() {
    let project = guarded();
    let serving = Serving::start(&[]);
    let good = &serving.token;
    let heads = [
        String::new(),
        "Authorization: Bearer\r\n".to_owned(),
        "Authorization: Bearer \r\n".to_owned(),
        format!("Authorization: Bearer {}\r\n", "0".repeat(good.len())),
        format!("Authorization: Bearer {}\r\n", &good[1..]),
        format!("Authorization: Bearer {good}0\r\n"),
        format!("Authorization: Basic {good}\r\n"),
        format!("Authorization: Bearer {good}\r\nAuthorization: Bearer x\r\n"),
        format!("X-Authorization: Bearer {good}\r\n"),
    ];
    for head in heads {
        let head = format!("Host: localhost\r\n{head}");
        for line in [
            "GET /v1/health",
            "GET /metrics",
            "GET /v1/schema",
            "GET /v1/nothing",
            "POST /v1/dispatch",
            "POST /v1/reload",
            "POST /v1/hook/claude-code",
        ] {
            let body = event(project.path(), "ls");
            let request = request(line, &head, body.as_bytes());
            for answer in [
                send(&mut serving.connect(), &request),
                send(&mut serving.connect_port(), &request),
            ] {
                assert_eq!(answer.kind(), "401 token", "{head}{line}");
            }
        }
        // An agent would take a 401 for a broken hook, and go on.
        let body = bash(project.path(), "ls");
        let line = "POST /v1/agents/claude-code/PreToolUse";
        let answer = send(
            &mut serving.connect_port(),
            &request(line, &head, body.as_bytes()),
        );
        assert_eq!(answer.status, 200);
        let specific = &answer.json()["hookSpecificOutput"];
        assert_eq!(specific["permissionDecision"], "deny", "{answer:?}");
    }
    // The project was not even looked at.
    assert_eq!(serving.get("/v1/health").json()["projects"], json!([]));
}

#[test]
fn pages_in_a_browser_are_refused() {
    let serving = Serving::start(&[]);
    let token = format!("Authorization: Bearer {}\r\n", serving.token);
    let ask = |head: &str| {
        let request = request("GET /v1/health", &format!("{token}{head}"), b"");
        send(&mut serving.connect_port(), &request)
    };
    for own in ["localhost", "LOCALHOST:80", "127.0.0.1:4711", "[::1]:4711"] {
        assert_eq!(ask(&format!("Host: {own}\r\n")).status, 200, "{own}");
    }
    for foreign in ["evil.example", "localhost.evil.example", "10.0.0.1", ""] {
        let answer = ask(&format!("Host: {foreign}\r\n"));
        assert_eq!(answer.kind(), "403 host", "{foreign}");
    }
    assert_eq!(ask("").kind(), "403 host");
    let both = "Host: localhost\r\nHost: evil.example\r\n";
    assert_eq!(ask(both).kind(), "403 host");
    for origin in ["http://localhost", "https://evil.example", "null"] {
        let answer = ask(&format!("Host: localhost\r\nOrigin: {origin}\r\n"));
        assert_eq!(answer.kind(), "403 origin");
    }
    let line = "GET http://evil.example/v1/health";
    let request = request(line, &format!("Host: localhost\r\n{token}"), b"");
    let answer = send(&mut serving.connect_port(), &request);
    assert_eq!(answer.kind(), "403 host");
}

#[test]
fn clients_that_are_too_large_slow_or_gone_hold_nobody_up() {
    let project = guarded();
    let serving = Serving::start(&[]);
    let head = format!(
        "Host: localhost\r\nAuthorization: Bearer {}\r\n",
        serving.token
    );
    let size = (64 << 20) + 1;
    let large = format!("POST /v1/dispatch HTTP/1.1\r\n{head}Content-Length: {size}\r\n\r\n");
    let answer = send(&mut serving.connect(), large.as_bytes());
    assert_eq!(answer.kind(), "413 too_large");
    // To an agent that is a no, like everything else.
    let large = large.replace("/v1/dispatch", "/v1/agents/claude-code/PreToolUse");
    let answer = send(&mut serving.connect(), large.as_bytes());
    assert!(
        answer.status == 200 && answer.body.contains("deny"),
        "{answer:?}"
    );
    // A head without an end.
    let endless = format!("GET /v1/health HTTP/1.1\r\nX: {}", "x".repeat(1 << 20));
    let answer = send(&mut serving.connect(), endless.as_bytes());
    assert_eq!(answer.status, 431);

    let whole = serving.request("POST /v1/dispatch", event(project.path(), "ls").as_bytes());
    for cut in [0, 1, 20, whole.len() / 2, whole.len() - 1] {
        let mut stream = serving.connect();
        stream.write_all(&whole[..cut]).unwrap();
    }
    let slow: Vec<_> = (0..100)
        .map(|index| {
            let mut stream = serving.connect_port();
            let cut = whole.len() * index / 100;
            stream.write_all(&whole[..cut]).unwrap();
            stream
        })
        .collect();
    assert_eq!(serving.get("/v1/health").status, 200);
    let health = serving.request("GET /v1/health", b"");
    assert_eq!(send(&mut serving.connect_port(), &health).status, 200);
    for (index, mut stream) in slow.into_iter().enumerate() {
        match read(&mut stream) {
            // Whoever sent a head is told what is missing.
            Some(answer) => assert_eq!(answer.kind(), "408 slow", "{index}"),
            None => assert_eq!(stream.read(&mut [0]).unwrap_or(0), 0, "{index}"),
        }
    }
    assert_eq!(
        reason(&serving, &project, "rm -rf build"),
        "dangerous command"
    );
}

#[test]
fn what_others_could_reach_does_not_start() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let told = refused_to_start(here, &["--listen", "0.0.0.0:0"]);
    assert!(told.contains("not a loopback address"), "{told}");
    let told = refused_to_start(here, &["--listen", "[::]:0"]);
    assert!(told.contains("not a loopback address"), "{told}");

    let token = here.join("token");
    let file = token.to_str().unwrap();
    std::fs::write(&token, "t".repeat(64)).unwrap();
    for mode in [0o644, 0o640, 0o602] {
        std::fs::set_permissions(&token, std::fs::Permissions::from_mode(mode)).unwrap();
        let told = refused_to_start(here, &["--token-file", file]);
        assert!(told.contains("other users can read or write it"), "{told}");
    }
    std::fs::write(&token, "short").unwrap();
    std::fs::set_permissions(&token, std::fs::Permissions::from_mode(0o600)).unwrap();
    let told = refused_to_start(here, &["--token-file", file]);
    assert!(told.contains("at least 32 printable characters"), "{told}");

    let open = here.join("open");
    std::fs::create_dir(&open).unwrap();
    std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o777)).unwrap();
    let told = refused_to_start(&open, &[]);
    assert!(told.contains("other users can write to it"), "{told}");
    std::fs::write(here.join("serve.sock"), "a file").unwrap();
    let told = refused_to_start(here, &[]);
    assert!(told.contains("is not a socket"), "{told}");
}
