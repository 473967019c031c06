//! What a server answers, and that it answers everybody.

use super::*;

/// Checks a value against the part of JSON Schema that the API's schema uses.
fn fits(schema: &Value, rule: &Value, value: &Value, place: &str) {
    if let Some(name) = rule["$ref"].as_str() {
        let name = name.strip_prefix("#/$defs/").unwrap();
        let rule = &schema["$defs"][name];
        assert!(rule.is_object(), "no {name}");
        return fits(schema, rule, value, place);
    }
    if let Some(any) = rule["anyOf"].as_array() {
        let null = any.iter().any(|rule| rule["type"] == "null");
        assert!(null, "{place}");
        if !value.is_null() {
            fits(schema, &any[0], value, place);
        }
        return;
    }
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
    };
    let is = |wanted: &Value| wanted == kind || wanted == "number" && kind == "integer";
    let typed = match &rule["type"] {
        Value::Array(kinds) => kinds.iter().any(is),
        Value::Null => true,
        wanted => is(wanted),
    };
    assert!(typed, "{place}: {value} is not {}", rule["type"]);
    if let Some(words) = rule["enum"].as_array() {
        assert!(words.contains(value), "{place}: {value}");
    }
    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
        fits(schema, &rule["items"], item, &format!("{place}[{index}]"));
    }
    let Some(object) = value.as_object() else {
        return;
    };
    for key in rule["required"].as_array().into_iter().flatten() {
        assert!(
            object.contains_key(key.as_str().unwrap()),
            "{place}: no {key}"
        );
    }
    for (key, value) in object {
        let place = format!("{place}.{key}");
        match (&rule["properties"][key], &rule["additionalProperties"]) {
            (Value::Null, Value::Bool(false)) => panic!("{place} is not known"),
            (Value::Null, more) => fits(schema, more, value, &place),
            (known, _) => fits(schema, known, value, &place),
        }
    }
}

#[test]
fn every_answer_is_what_the_schema_says() {
    let project = guarded();
    let path = project.path().to_str().unwrap();
    let serving = Serving::start(&["--project", path]);
    let schema = serving.get("/v1/schema");
    assert!(schema.head.contains("application/schema+json"));
    assert_eq!(schema.body, include_str!("../../docs/serve.schema.json"));
    let schema = schema.json();
    let check = |name: &str, value: &Value| {
        fits(
            &schema,
            &json!({"$ref": format!("#/$defs/{name}")}),
            value,
            name,
        );
    };

    for command in ["ls", "rm -rf build", "deploy", "tidy", "boom"] {
        let asked = event(project.path(), command);
        check("dispatch", &serde_json::from_str(&asked).unwrap());
        let answer = serving.post("/v1/dispatch", asked);
        assert_eq!(answer.status, 200, "{answer:?}");
        check("outcome", &answer.json());
    }
    // The only project of the server need not be named.
    let asked =
        r#"{"event":"tool.pre","payload":{"name":"run_command","args":{"command":"tidy"}}}"#;
    let outcome = serving.post("/v1/dispatch", asked).json();
    assert_eq!(outcome["decision"], "modify");
    assert_eq!(outcome["payload"]["args"]["command"], "tidy --safely");

    let reply = serving.post("/v1/hook/claude-code", bash(project.path(), "rm -rf build"));
    check("hook-reply", &reply.json());
    assert_eq!(reply.json()["code"], 2);
    assert!(reply.head.contains("hookbox-version: "));

    let path = "/v1/agents/claude-code/PreToolUse";
    let reply = serving
        .post(path, bash(project.path(), "rm -rf build"))
        .json();
    check("agent-reply", &reply);
    assert_eq!(reply["hookSpecificOutput"]["permissionDecision"], "deny");
    assert_eq!(serving.post(path, bash(project.path(), "ls")).body, "{}");

    let health = serving.get("/v1/health").json();
    check("health", &health);
    assert_eq!(health["version"], env!("CARGO_PKG_VERSION"));
    let reloaded = serving.post("/v1/reload", "").json();
    check("reload", &reloaded);
    assert_eq!(reloaded["projects"][0]["hooks"], 3);

    let wrong: &[(&str, &str, &str)] = &[
        ("/v1/nothing", "", "404 path"),
        ("/v1/hook/nobody", "{}", "404 agent"),
        ("/v1/health", "", "405 method"),
        ("/v1/stop?now=1", "", "400 request"),
        ("/v1/dispatch", "{", "400 json"),
        ("/v1/dispatch", "[]", "400 request"),
        ("/v1/dispatch", "{\"event\":\"tool.pre\"}", "400 request"),
        (
            "/v1/dispatch",
            "{\"event\":1,\"payload\":{}}",
            "400 request",
        ),
        (
            "/v1/dispatch",
            "{\"event\":\"a\",\"event\":\"b\"}",
            "400 json",
        ),
        (
            "/v1/dispatch",
            "{\"event\":\"x\",\"payload\":{},\"y\":1}",
            "400 request",
        ),
        (
            "/v1/dispatch",
            "{\"event\":\"nope\",\"payload\":{}}",
            "422 unknown_event",
        ),
        (
            "/v1/dispatch",
            "{\"event\":\"tool.pre\",\"payload\":7}",
            "422 payload",
        ),
        (
            "/v1/dispatch",
            "{\"event\":\"tool.pre\",\"payload\":{},\"project\":\"/no/such\"}",
            "404 project",
        ),
        ("/v1/dispatch?project=/x", "{}", "400 request"),
        ("/v1/hook/claude-code?project=relative", "{}", "400 request"),
        ("/v1/hook/claude-code?deadline=soon", "{}", "400 request"),
        (
            "/v1/hook/claude-code?event=Stop&event=Stop",
            "{}",
            "400 request",
        ),
        ("/v1/reload?project=/no/such", "", "404 project"),
    ];
    for (target, body, kind) in wrong {
        let answer = serving.post(target, body);
        assert_eq!(answer.kind(), *kind, "{target} {body}: {answer:?}");
        check("error", &answer.json());
    }
    check("stop", &serving.post("/v1/stop", "").json());
}

#[test]
fn one_connection_takes_many_requests() {
    let project = guarded();
    let serving = Serving::start(&[]);
    let mut stream = serving.connect();
    for command in ["ls", "rm -rf build", "ls"] {
        let body = event(project.path(), command);
        let answer = send(
            &mut stream,
            &serving.request("POST /v1/dispatch", body.as_bytes()),
        );
        let wanted = if command == "ls" { "allow" } else { "block" };
        assert_eq!(answer.json()["decision"], wanted);
    }
}

#[test]
fn two_agents_work_in_one_project_at_once() {
    let project = guarded();
    let serving = Serving::start(&[]);
    std::thread::scope(|scope| {
        for agent in ["claude-code", "codex"] {
            for _ in 0..4 {
                let (serving, project) = (&serving, &project);
                scope.spawn(move || {
                    for round in 0..10 {
                        let command = if round % 2 == 0 { "ls" } else { "rm -rf build" };
                        let target = format!("/v1/hook/{agent}");
                        let answer = serving.post(&target, bash(project.path(), command));
                        assert_eq!(answer.status, 200);
                        let refused = answer.body.contains("dangerous command");
                        assert_eq!(refused, round % 2 == 1, "{answer:?}");
                    }
                });
            }
        }
    });
    let metrics = serving.get("/metrics").body;
    for line in [
        "hookboxserve_requests_total{route=\"hook\",status=\"200\"} 80",
        "hookboxserve_decision_seconds_count{agent=\"codex\",event=\"PreToolUse\",decision=\"block\"} 20",
        "hookboxserve_decision_seconds_count{agent=\"claude-code\",event=\"PreToolUse\",decision=\"pass\"} 20",
        "hookboxserve_projects 1",
    ] {
        assert!(metrics.contains(line), "{line}\n{metrics}");
    }
    let path = project.path().canonicalize().unwrap();
    let denied = format!(
        "hookbox_denied_total{{name=\"denied\",project=\"{}\"}} 40",
        path.display()
    );
    assert!(metrics.contains(&denied), "{metrics}");
}

#[test]
fn a_question_is_the_outcome_for_a_program_and_goes_on_to_an_agents_person() {
    let project = guarded();
    let serving = Serving::start(&[]);
    // In turns, so that the same threads do both.
    for _ in 0..3 {
        let answer = serving.post("/v1/dispatch", event(project.path(), "deploy"));
        assert_eq!(answer.json()["decision"], "ask");
        assert_eq!(answer.json()["reason"], "deploy now?");
        let agent = "/v1/agents/claude-code/PreToolUse";
        let answer = serving.post(agent, bash(project.path(), "deploy")).json();
        assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "ask");
    }
}
