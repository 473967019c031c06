//! The page of a replay, in a real browser. Needs Chromium, so these tests are ignored
//! unless it is there: `cargo test --release --test report -- --include-ignored`.

mod support;

use std::path::Path;
use std::process::Command;

use regex::Regex;
use serde_json::json;
use support::{Project, hook_file, session};

const GUARD: &str = "def handle(event, payload):\n    cmd = payload['args']['command']\n    cache.incr('seen')\n    if 'rm -rf' in cmd:\n        return block('no </script><img src=x onerror=alert(1)>')\n    if 'sudo ' in cmd:\n        return modify({'args': {'command': cmd.replace('sudo ', '')}})\n    return allow()";

/// A tape with four events, one of them hostile, and its page.
fn page(arguments: &[&str]) -> Project {
    let project = Project::with(&[
        ("guard", &hook_file("tool.pre", "priority: 10", GUARD)),
        (
            "late",
            &hook_file(
                "tool.pre",
                "priority: 20\nwhen: \"'ls' in payload['args']['command']\"",
                "def handle(event, payload):\n    log('late \u{202e}')\n    return allow()",
            ),
        ),
    ]);
    for one in [
        "ls",
        "rm -rf /",
        "sudo ls",
        "</script><img src=x onerror=alert(2)>",
    ] {
        let payload = json!({"name": "run_command", "args": {"command": one}}).to_string();
        session(
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
    }
    let mut all = vec!["replay", "run.tape", "--html", "report.html", "-q"];
    all.extend(arguments);
    let told = session(project.path(), &all);
    assert!(told.contains("4 events on 1 tape"), "{told}");
    project
}

/// Opens a page and returns what the browser made of it, without scripts and styles.
fn look(project: &Project, fragment: &str) -> String {
    let page = project.path().join("report.html");
    let output = Command::new("timeout")
        // A dialog that a payload opened would wait for ever.
        .args([
            "60",
            "chromium",
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
        ])
        .args([
            "--enable-logging=stderr",
            "--virtual-time-budget=4000",
            "--dump-dom",
        ])
        .arg(format!(
            "--user-data-dir={}",
            profile(project.path()).display()
        ))
        .arg(format!("file://{}{fragment}", page.display()))
        .output()
        .expect("Chromium");
    let console = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{console}");
    assert!(
        !console.contains("CONSOLE"),
        "the console is quiet: {console}"
    );
    let dom = String::from_utf8(output.stdout).unwrap();
    let hidden = Regex::new(r"(?s)<script\b.*?</script>|<style\b.*?</style>").unwrap();
    hidden.replace_all(&dom, "").into_owned()
}

fn profile(folder: &Path) -> std::path::PathBuf {
    folder.join("chromium")
}

/// The events that are shown.
fn shown(dom: &str) -> Vec<u64> {
    let article = Regex::new(r#"<article class="dispatch"[^>]*>"#).unwrap();
    let number = Regex::new(r#"data-dispatch="(\d+)""#).unwrap();
    article
        .find_iter(dom)
        .map(|found| found.as_str())
        .filter(|found| !found.contains(" hidden"))
        .filter_map(|found| number.captures(found)?[1].parse().ok())
        .collect()
}

#[test]
#[ignore = "needs Chromium"]
fn the_page_shows_every_event_and_filters_by_decision_and_hook() {
    let project = page(&[]);
    let all = look(&project, "");
    assert_eq!(shown(&all), [1, 2, 3, 4]);
    assert!(all.contains("<output id=\"shown\">4 of 4 events</output>"));
    assert_eq!(shown(&look(&project, "#decision=block")), [2]);
    assert_eq!(shown(&look(&project, "#decision=block,modify")), [2, 3]);
    assert_eq!(shown(&look(&project, "#hook=late")), [1, 3]);
    assert_eq!(shown(&look(&project, "#q=SUDO")), [3]);
}

#[test]
#[ignore = "needs Chromium"]
fn an_event_opens_to_its_chain_calls_and_payloads() {
    let project = page(&[]);
    let dom = look(&project, "#open=3");
    for part in [
        "aria-expanded=\"true\"",
        "<li class=\"step\" data-hook=\"guard\" data-state=\"called\"",
        "<li class=\"step\" data-hook=\"late\" data-state=\"called\"",
        "data-capability=\"cache.increment\"",
        "class=\"bar\"",
        "data-changed=\"true\"",
        "<div class=\"line del\">",
        "<div class=\"line add\">",
    ] {
        assert!(dom.contains(part), "{part} is missing in {dom}");
    }
    let blocked = look(&project, "#open=2");
    assert!(blocked.contains("data-hook=\"guard\""), "{blocked}");
    assert!(blocked.contains("data-changed=\"false\""), "{blocked}");
}

#[test]
#[ignore = "needs Chromium"]
fn what_a_payload_or_a_reason_says_stays_text() {
    let project = page(&[]);
    for fragment in ["", "#open=2", "#open=4", "#q=%3Cimg"] {
        let dom = look(&project, fragment);
        assert!(!dom.contains("<img"), "{dom}");
    }
    let dom = look(&project, "#open=1");
    assert!(!dom.contains('\u{202e}'), "{dom}");
}

#[test]
#[ignore = "needs Chromium"]
fn a_checked_page_shows_what_differs_first() {
    let other = Project::with(&[(
        "guard",
        &hook_file(
            "tool.pre",
            "priority: 10",
            &GUARD.replace("'rm -rf' in cmd", "'ls' == cmd"),
        ),
    )]);
    let project = page(&["--against", other.path().to_str().unwrap()]);
    let dom = look(&project, "#verdict=newly%20blocked&open=1");
    assert_eq!(shown(&dom), [1]);
    assert!(dom.contains("<section class=\"difference\""), "{dom}");
    assert!(dom.contains("data-verdict=\"newly blocked\""), "{dom}");
}
