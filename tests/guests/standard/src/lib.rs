//! A hook that tries all that the standard library has to offer, and blocks with
//! what it saw.

use std::collections::HashMap;
use std::hash::BuildHasher;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use exports::hookbox::hook::handler::Guest;
use hookbox::hook::log::{Level, write};
use hookbox::hook::types::{Answer, Decision, Event, Failure};
use serde_json::{Value, json};

wit_bindgen::generate!({ path: "../../../wit", world: "hook" });

struct Standard;

impl Guest for Standard {
    fn handle(event: Event) -> Result<Answer, Failure> {
        println!("handling {}", event.name);
        write(Level::Debug, "between");
        eprintln!("for {}", event.hook);
        assert!(!event.payload.contains("give up"), "told to give up");
        Ok(Answer {
            decision: Decision::Block(seen().to_string()),
            effects: Vec::new(),
        })
    }
}

fn seen() -> Value {
    let began = Instant::now();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    std::thread::sleep(Duration::from_millis(20));
    let slept = began.elapsed();
    let seeds = HashMap::<u8, u8>::new();
    json!({
        "now": now.as_secs(),
        "slept": slept.as_millis() as u64,
        "hash": seeds.hasher().hash_one("a").to_string(),
        "env": std::env::vars().collect::<Vec<_>>(),
        "args": std::env::args().collect::<Vec<_>>(),
        "here": names("."),
        "root": names("/"),
        "docs": names("docs"),
        "file": told(std::fs::read_to_string("docs/a.txt")),
        "outside": told(std::fs::read_to_string("docs/../secret.txt")),
        "written": told(std::fs::write("docs/b.txt", "b").map(|()| String::new())),
        "connected": told(std::net::TcpStream::connect("127.0.0.1:80").map(|_| String::new())),
    })
}

fn names(path: &str) -> Value {
    let entries = std::fs::read_dir(path).and_then(|entries| {
        entries
            .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
            .collect::<std::io::Result<Vec<_>>>()
    });
    match entries {
        Ok(mut names) => {
            names.sort();
            json!(names)
        }
        Err(error) => json!({ "error": error.kind().to_string() }),
    }
}

fn told(result: std::io::Result<String>) -> Value {
    match result {
        Ok(text) => json!(text),
        Err(error) => json!({ "error": error.kind().to_string() }),
    }
}

export!(Standard);
