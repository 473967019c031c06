//! Metrics as others read them.

mod support;

use std::process::{Command, Stdio};

use support::Project;

const SCRIPT: &str = "def handle(event, payload):\n    metrics.incr('audit.calls', 2)\n    metrics.set('load', 0.5)\n    return allow()";

fn run(project: &Project, arguments: &[&str]) -> std::process::Output {
    support::warm_up();
    Command::new(env!("CARGO_BIN_EXE_hookbox"))
        .args([
            "run",
            "tool.pre",
            "--payload",
            "{\"name\":\"x\"}",
            "--project",
        ])
        .arg(project.path())
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

#[test]
fn metrics_are_written_for_prometheus() {
    let project = Project::script(SCRIPT);
    let file = project.path().join("hookbox.prom");
    let output = run(&project, &["--prometheus", file.to_str().unwrap()]);
    assert!(output.status.success());
    let text = std::fs::read_to_string(file).unwrap();
    for line in [
        "# TYPE hookbox_audit_calls_total counter",
        "hookbox_audit_calls_total{name=\"audit.calls\"} 2",
        "# TYPE hookbox_load gauge",
        "hookbox_load{name=\"load\"} 0.5",
    ] {
        assert!(text.lines().any(|found| found == line), "{text}");
    }
}

#[test]
fn metrics_that_cannot_be_written_do_not_change_the_decision() {
    let project = Project::script(SCRIPT);
    let output = run(&project, &["--prometheus", "/nowhere/at/all.prom"]);
    assert!(output.status.success());
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(
        stderr.contains("the metrics cannot be written to /nowhere/at/all.prom"),
        "{stderr}"
    );
}

#[cfg(feature = "otlp")]
mod otlp {
    use super::*;
    use support::server::{Server, ok};

    #[test]
    fn metrics_are_sent_to_a_collector() {
        let server = Server::answering(|_| ok("{}"));
        let endpoint = format!("http://127.0.0.1:{}/", server.port);
        let output = run(&Project::script(SCRIPT), &["--otlp", &endpoint]);
        assert!(output.status.success());
        let arrived = server.arrived();
        assert!(arrived[0].head.starts_with("POST /v1/metrics HTTP/1.1"));
        let body: serde_json::Value = serde_json::from_str(&arrived[0].body).unwrap();
        let metrics = &body["resourceMetrics"][0]["scopeMetrics"][0]["metrics"];
        assert_eq!(metrics[0]["name"], "audit.calls");
        assert_eq!(metrics[0]["sum"]["isMonotonic"], true);
        assert_eq!(metrics[0]["sum"]["aggregationTemporality"], 2);
        let point = &metrics[0]["sum"]["dataPoints"][0];
        assert_eq!(point["asInt"], "2");
        let time = |key: &str| point[key].as_str().unwrap().parse::<u128>().unwrap();
        assert!(time("startTimeUnixNano") <= time("timeUnixNano"));
        assert_eq!(metrics[1]["gauge"]["dataPoints"][0]["asDouble"], 0.5);
    }

    #[test]
    fn a_collector_that_is_not_there_does_not_change_the_decision() {
        let output = run(&Project::script(SCRIPT), &["--otlp", "http://127.0.0.1:9"]);
        assert!(output.status.success());
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(
            stderr.contains("the collector at http://127.0.0.1:9 cannot be reached"),
            "{stderr}"
        );
    }
}
