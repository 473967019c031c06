//! The contract, checked natively: capabilities answer as in the warm-up.

use crate::bindings::exports::hookbox::starlark::interpreter::{
    Entry, Problem, Report, Span, Verdict,
};
use crate::bindings::hookbox::hook::types::{Decision, Event};
use crate::phase::Phase;
use crate::{check, script, warm_up, when};

fn event(payload: &str) -> Event {
    Event {
        name: "tool.pre".to_owned(),
        payload: payload.to_owned(),
        id: "1".to_owned(),
        subject: None,
        hook: "test".to_owned(),
        depth: 0,
    }
}

fn run(script: &str, payload: &str) -> Result<Verdict, Problem> {
    script::load(script.to_owned())?;
    script::handle_in(Phase::WarmUp, &event(payload))
}

fn body(body: &str, payload: &str) -> Result<Verdict, Problem> {
    run(
        &format!("def handle(event, payload):\n    {body}\n"),
        payload,
    )
}

fn decision(result: Result<Verdict, Problem>) -> String {
    match result {
        Ok(Verdict {
            answer,
            warning: None,
        }) => match answer.decision {
            Decision::Allow => "allow".to_owned(),
            Decision::Block(reason) => format!("block {reason}"),
            Decision::Modify(payload) => format!("modify {payload}"),
            Decision::Ask(question) => format!("ask {question}"),
        },
        Ok(Verdict {
            answer,
            warning: Some(warning),
        }) => match answer.decision {
            Decision::Allow => format!("allow? {warning}"),
            other => format!("{other:?}? {warning}"),
        },
        Err(problem) => format!("error {}", problem.message),
    }
}

/// Evaluates an expression in a script and returns it as JSON.
fn eval(expression: &str) -> String {
    let result = decision(body(&format!("return modify({expression})"), "{}"));
    result.strip_prefix("modify ").unwrap_or(&result).to_owned()
}

fn at(span: Option<Span>) -> (u32, u32, u32, u32) {
    let span = span.expect("a span");
    (
        span.begin.line,
        span.begin.column,
        span.end.line,
        span.end.column,
    )
}

fn messages(problems: &[Problem]) -> Vec<&str> {
    problems
        .iter()
        .map(|problem| problem.message.as_str())
        .collect()
}

#[test]
fn the_warm_up_ends_without_an_error() {
    warm_up::run();
    let script = include_str!("warm_up.star");
    script::load(script.to_owned()).expect("it loads");
    let warm = event(warm_up::PAYLOAD);
    let result = script::handle_in(Phase::WarmUp, &warm);
    assert!(decision(result).starts_with("block reason: [1, -2.5"));
    assert!(
        check::script(script.to_owned())
            .findings
            .warnings
            .is_empty()
    );
}

#[test]
fn decisions() {
    assert_eq!(decision(body("return allow()", "{}")), "allow");
    assert_eq!(decision(body("return block('no')", "{}")), "block no");
    assert_eq!(
        decision(body("return block(reason='no')", "{}")),
        "block no"
    );
    assert_eq!(
        decision(body("return modify(payload={'a': 1})", "{}")),
        "modify {\"a\":1}"
    );
    assert_eq!(decision(body("return {'action': 'allow'}", "{}")), "allow");
    assert_eq!(
        decision(body("return {'action': 'block', 'reason': 'r'}", "{}")),
        "block r"
    );
    assert_eq!(
        decision(body("return {'action': 'modify', 'payload': [1]}", "{}")),
        "modify [1]"
    );
    assert_eq!(
        eval("repr([allow(), block('x'), bool(allow())])"),
        "\"[allow(), block(\\\"x\\\"), True]\""
    );
    assert!(eval("{allow(): 1}").contains("not hashable"));
}

#[test]
fn odd_results_are_allowed_and_said() {
    let advice =
        "treated as allow(): end every branch in allow(), block(reason) or modify(payload)";
    let odd = |text| decision(body(text, "{}"));
    assert_eq!(
        odd("pass"),
        format!("allow? handle returned None; {advice}")
    );
    assert_eq!(
        odd("return 'x'"),
        format!("allow? handle returned the string \"x\"; {advice}")
    );
    assert_eq!(
        odd("return 42"),
        format!("allow? handle returned the int 42; {advice}")
    );
    assert_eq!(
        odd("return {}"),
        format!("allow? handle returned a dict without \"action\"; {advice}")
    );
    assert!(odd("return {'action': 'x'}").contains("unknown action \"x\""));
    assert!(odd("return {'action': 'modify'}").starts_with("allow? "));
    assert!(odd("return {'action': 'block'}").starts_with("Decision::Block(\"blocked\")?"));
    assert_eq!(
        odd("return block(3)"),
        "error block: the reason must be a string, not an int"
    );
}

#[test]
fn payloads_survive_both_ways() {
    let text = "{\"b\":1.0,\"a\":[123456789012345678901234567890,-7,1e300,null,true],\"é\":\"ü\\n\\u0001😀\"}";
    assert_eq!(
        decision(body("return modify(payload)", text)),
        format!("modify {text}")
    );
    let escaped = r#""\ud83d\ude00\/\b\f""#;
    assert_eq!(
        decision(body("return modify(payload)", escaped)),
        "modify \"😀/\\u0008\\u000c\""
    );
    for broken in [
        "",
        "{",
        "[1,]",
        "{\"a\":1,\"a\":2}",
        "01",
        "1.",
        "\"\\ud800\"",
        "nul",
        "1 2",
        "1e999",
    ] {
        assert!(
            decision(body("return allow()", broken)).starts_with("error the payload is not JSON")
        );
    }
    let deep = "[".repeat(200) + &"]".repeat(200);
    assert!(decision(body("return allow()", &deep)).contains("deeper than 128"));
}

#[test]
fn what_json_cannot_hold_is_named() {
    assert_eq!(
        eval("{'args': {'x': len}}"),
        "error modify: payload.args.x is a function, which JSON cannot hold"
    );
    assert_eq!(
        eval("{'a b': [0, float('nan')]}"),
        "error modify: payload[\"a b\"][1] is nan, which JSON cannot hold"
    );
    assert!(eval("{1: 2}").contains("has the key 1, but keys of JSON objects are strings"));
    let cycle = "x = []\n    x.append(x)\n    return modify(x)";
    assert!(decision(body(cycle, "{}")).contains("deeper than 128 levels, or contains itself"));
}

#[test]
fn entry_points() {
    assert_eq!(
        decision(run("x = 1", "{}")),
        "error the script defines no handle(event, payload)"
    );
    assert_eq!(
        decision(run("def run(args):\n    pass", "{}")),
        "error the script defines no handle(event, payload); it defines run(), which is the entry \
         point of a tool"
    );
    let entry = |text: &str| check::script(text.to_owned()).entry;
    assert!(matches!(
        entry("def handle(e, p):\n    return allow()"),
        Entry::Present
    ));
    assert!(matches!(
        entry("def handle(*a):\n    return allow()"),
        Entry::Present
    ));
    assert!(matches!(
        entry("def handle(e, p, x=1):\n    return allow()"),
        Entry::Present
    ));
    assert!(matches!(
        entry("def handle(e):\n    return allow()"),
        Entry::WrongShape
    ));
    assert!(matches!(
        entry("def handle(e, p, x):\n    return allow()"),
        Entry::WrongShape
    ));
    assert!(matches!(
        entry("def run(e, p):\n    return allow()"),
        Entry::Missing
    ));
}

#[test]
fn capabilities_are_out_of_reach_while_loading() {
    let message = |text: &str| script::load(text.to_owned()).expect_err("it fails").message;
    assert_eq!(
        message("x = metrics.incr('a')"),
        "metrics.incr: not available while the script loads; call it inside handle"
    );
    assert!(message("log('x')").starts_with("log: not available while"));
    assert!(message("log.info('x')").starts_with("log.info: not available while"));
    assert!(message("emit('custom.x')").starts_with("emit: not available while"));
}

#[test]
fn errors_have_places_and_stacks() {
    let problem = run(
        "def helper(x):\n    return x['no']\n\ndef handle(event, payload):\n    return helper({})\n",
        "{}",
    )
    .expect_err("it fails");
    assert_eq!(at(problem.at), (1, 11, 1, 18));
    let names: Vec<_> = problem
        .stack
        .iter()
        .map(|frame| frame.function.as_str())
        .collect();
    assert_eq!(names, ["handle", "helper"]);
    assert_eq!(at(problem.stack[0].at), (4, 11, 4, 21));
    assert_eq!(decision(body("fail('x')", "{}")), "error fail: x");
    let syntax = script::load("def f(:\n".to_owned()).expect_err("it fails");
    assert_eq!(syntax.at.map(|span| span.begin.line), Some(0));
}

#[test]
fn pure_built_ins() {
    assert_eq!(eval("re.match('(a)(x)?', 'ab')"), "[\"a\",\"a\",null]");
    assert_eq!(eval("re.match('b', 'ab')"), "null");
    assert_eq!(eval("re.search('b', 'ab')"), "[\"b\"]");
    assert_eq!(eval("re.findall('[0-9]+', '1 22')"), "[\"1\",\"22\"]");
    assert_eq!(eval("re.find_all('a([0-9])', 'a1 a2')"), "[\"1\",\"2\"]");
    assert_eq!(
        eval("re.findall('(.)=(.)', 'a=1 b=2')"),
        "[[\"a\",\"1\"],[\"b\",\"2\"]]"
    );
    assert_eq!(eval("re.replace('(a)(b)', '$2$1', 'ab')"), "\"ba\"");
    assert_eq!(
        eval("re.replace('(?P<x>a)(b)', '${x}_$2-$x$$', 'ab')"),
        "\"a_b-a$\""
    );
    // Long texts take another way to the same result.
    assert_eq!(
        eval("re.match('(a)+(b)?(c)?', 'a' * 100000 + 'bb')[1:]"),
        "[\"a\",\"b\",null]"
    );
    assert_eq!(eval("re.match('b', 'a' * 100000 + 'b')"), "null");
    assert_eq!(eval("len(re.findall('\\\\w', 'é ' * 100000))"), "100000");
    assert_eq!(
        eval("re.replace('(a)', '$1$1', 'a' * 100000) == 'a' * 200000"),
        "true"
    );
    assert_eq!(
        eval("re.match('(', 'x')"),
        "error re.match: bad pattern: unclosed group"
    );
    assert_eq!(eval("string.truncate('héllo', 2)"), "\"hé\"");
    assert_eq!(
        eval("string.truncate('x', -1)"),
        "error string.truncate: n must be >= 0"
    );
    assert_eq!(
        eval("string.pad_left('7', 3, '0') + string.pad_right('a', 2)"),
        "\"007a \""
    );
    assert_eq!(eval("string.split('a,b,c', ',', 2)"), "[\"a\",\"b,c\"]");
    assert_eq!(
        eval("json.decode('[1.0, 12345678901234567890]')"),
        "[1.0,12345678901234567890]"
    );
    assert_eq!(eval("json.encode({'a': None})"), "\"{\\\"a\\\":null}\"");
    assert!(eval("json.decode('{')").starts_with("error json.decode: "));
    assert!(eval("json.decode('{\"a\":1,\"a\":2}')").contains("duplicate key"));
    assert_eq!(
        eval("emit('x')"),
        "error emit: event must start with \"custom.\""
    );
    assert_eq!(
        eval("[f for f in ['print', 'load', 'isinstance'] if f in dir(json)]"),
        "[]"
    );
}

fn evaluated(condition: &str, payload: &str) -> Result<bool, Problem> {
    when::load(condition.to_owned())?;
    when::matches(&event(payload))
}

#[test]
fn conditions() {
    let matches = |text: &str, payload: &str| match evaluated(text, payload) {
        Ok(result) => result.to_string(),
        Err(problem) => problem.message,
    };
    assert_eq!(
        matches(
            "payload[\"name\"] == 'x' and event == 'tool.pre'",
            "{\"name\":\"x\"}"
        ),
        "true"
    );
    assert_eq!(
        matches("payload.get(\n\"a\",\n  [])  # none", "{}"),
        "false"
    );
    assert_eq!(matches("1", "{}"), "true");
    for several in [
        "True)\nx = (1",
        "True) or (False",
        "True)(1",
        "True).x(1",
        "1, 2",
        "x=1",
        "",
        "*[1]",
        "1)\nbool(1",
        "1); return bool(1",
        "1)\n\ndef when(event, payload): return bool(0",
        "1)\nwhen = bool(",
    ] {
        assert!(evaluated(several, "{}").is_err(), "{several}");
    }
    assert!(matches("metrics.get('x')", "{}").contains("`metrics` not found"));
    let problem = evaluated("True and payload['no']", "{}").expect_err("it fails");
    assert_eq!(at(problem.at), (0, 9, 0, 22));
    let problem = evaluated("True and\n  payload['no']", "{}").expect_err("it fails");
    assert_eq!(at(problem.at), (1, 2, 1, 15));
    assert!(problem.stack.is_empty(), "{:?}", problem.stack);
    let problem = evaluated("(True", "{}").expect_err("it fails");
    assert_eq!(problem.at.map(|span| span.begin.line), Some(0));
}

#[test]
fn checks_find_unknown_names() {
    let report = check::script(
        "X = 1\n\ndef handle(event, payload):\n    for d in [y for y in payload]:\n        if \
         isinstance(d, X):\n            return metrcs.incr('a')\n"
            .to_owned(),
    );
    assert_eq!(
        messages(&report.findings.warnings),
        [
            "isinstance is not available: use type(v) == \"string\"",
            "metrcs is not defined; did you mean metrics?",
            "handle can end without a decision: end every branch in allow(), block(reason) or \
             modify(payload)",
        ]
    );
    assert_eq!(at(report.findings.warnings[0].at), (4, 11, 4, 21));
    let Report { errors, warnings } = check::condition("payload['a'] or\n  metrics.get('x')");
    assert!(errors.is_empty());
    assert_eq!(
        messages(&warnings),
        ["metrics is not available in a `when`: use it inside handle"]
    );
    assert_eq!(at(warnings[0].at), (1, 2, 1, 9));
    let report =
        check::script("def handle(e, p):\n    metrics.inc('a')\n    return allow()".to_owned());
    let expected = ["metrics.inc is not defined; did you mean metrics.incr?"];
    assert_eq!(messages(&report.findings.warnings), expected);
    let report = check::condition("payload.get('a') and payload.name == 'x'");
    assert_eq!(
        messages(&report.warnings),
        ["payload has no attribute name: write payload[\"name\"]"]
    );
    assert_eq!(check::condition("payload[").errors.len(), 1);
    assert_eq!(check::script("def f(:".to_owned()).findings.errors.len(), 1);
}
