//! A hook that is an ordinary program: no SDK, only standard input and output.
//!
//! `args.do` says what it does, as in the conformance suite; without it the tool's name
//! says how it ends.

use std::io::{Read as _, stdin};
use std::process::ExitCode;

use serde_json::{Map, Value, json};

fn main() -> ExitCode {
    let mut text = String::new();
    if let Err(error) = stdin().read_to_string(&mut text) {
        panic!("standard input cannot be read: {error}");
    }
    let event: Value = serde_json::from_str(&text).unwrap();
    let payload = &event["payload"];
    let args = &payload["args"];
    match args["do"].as_str() {
        Some(mode) => obey(mode, args, payload),
        None => return end(payload["name"].as_str().unwrap_or_default()),
    }
    ExitCode::SUCCESS
}

/// Ends in the way a name says.
fn end(name: &str) -> ExitCode {
    match name {
        "exit-1" => {
            eprintln!("this is why");
            std::process::exit(1)
        }
        "exit-2" => {
            eprintln!("this is why");
            std::process::exit(2)
        }
        "return-error" => {
            eprintln!("this is why");
            ExitCode::FAILURE
        }
        "modify" => {
            let args = json!({"args": {"seen": name}});
            println!("{}", json!({"decision": "modify", "payload": args}));
            ExitCode::SUCCESS
        }
        _ => ExitCode::SUCCESS,
    }
}

fn obey(mode: &str, args: &Value, payload: &Value) {
    let answer = match mode {
        "allow" => return,
        "block" => json!({"decision": "block", "reason": args["reason"]}),
        "ask" => json!({"decision": "ask", "message": args["message"]}),
        "modify" => json!({"decision": "modify", "payload": {"note": args["value"]}}),
        "echo" => json!({"decision": "modify", "payload": payload}),
        "context" => allow_with(contexts(args)),
        "reminder" => allow_with(vec![reminder(args)]),
        "effects-block" => json!({
            "decision": "block",
            "reason": "with effects",
            "effects": [
                {"kind": "context", "text": "first"},
                {"kind": "reminder", "body": "second"},
            ],
        }),
        "loop" => loop {
            std::hint::black_box(0);
        },
        "memory" => {
            let mut kept = Vec::new();
            loop {
                kept.push(vec![1_u8; 1 << 16]);
            }
        }
        "recursion" => json!(recurse(1)),
        other => panic!("unknown mode: {other}"),
    };
    println!("{answer}");
}

fn allow_with(effects: Vec<Value>) -> Value {
    json!({"decision": "allow", "effects": effects})
}

fn contexts(args: &Value) -> Vec<Value> {
    let contexts = args["contexts"].as_array().into_iter().flatten();
    contexts
        .map(|one| {
            let mut effect = Map::new();
            effect.insert("kind".into(), "context".into());
            effect.insert("text".into(), one["text"].clone());
            if let Some(placement) = one["placement"].as_str() {
                effect.insert("placement".into(), placement.replace('-', "_").into());
            }
            effect.into()
        })
        .collect()
}

fn reminder(args: &Value) -> Value {
    let mut effect = Map::new();
    for (key, value) in args.as_object().into_iter().flatten() {
        let value = match value.as_str() {
            Some(word) if key == "role_hint" => word.replace('-', "_").into(),
            _ => value.clone(),
        };
        if key != "do" {
            effect.insert(key.clone(), value);
        }
    }
    effect.insert("kind".into(), "reminder".into());
    effect.into()
}

fn recurse(depth: u64) -> u64 {
    let frame = std::hint::black_box([depth; 16]);
    recurse(depth + 1) + frame[(depth % 16) as usize]
}
