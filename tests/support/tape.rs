//! Real tapes, and an encoder of the test's own that makes any other one.

use std::path::Path;
use std::sync::OnceLock;

use hookbox::Runtime;
use hookbox::tape::{Dispatch, Ending, Reader, Record, Recorder, Replay, TapeError};
use serde_json::{Value, json};

use super::{Project, command, hook_file};

/// A project that allows, blocks, asks, modifies, calls the host and emits.
pub fn studio() -> Project {
    Project::with(&[
        (
            "guard",
            &hook_file(
                "tool.pre",
                "priority: 10\nwhen: payload[\"name\"] == \"run_command\"",
                "def handle(event, payload):
    command = payload[\"args\"].get(\"command\", \"\")
    cache.incr(\"seen\")
    if \"rm \" in command:
        log.warn(\"denied: \" + command)
        return block(\"dangerous command\")
    if \"deploy\" in command:
        return ask(\"deploy now?\")
    return allow()",
            ),
        ),
        (
            "tidy",
            &hook_file(
                "tool.pre",
                "priority: 40\nwhen: payload[\"name\"] == \"tidy\"",
                "def handle(event, payload):\n    return modify({\"args\": {\"tidy\": True}})",
            ),
        ),
        (
            "teller",
            &hook_file(
                "turn.start",
                "priority: 10",
                "def handle(event, payload):\n    emit(\"custom.told\", {\"text\": payload})\n    return allow()",
            ),
        ),
        (
            "listener",
            &hook_file(
                "custom.told",
                "priority: 10",
                "def handle(event, payload):\n    return modify({\"heard\": True})",
            ),
        ),
    ])
}

/// Records what `work` does with a runtime of the project.
pub fn record(project: &Project, path: &Path, work: impl FnOnce(&Runtime)) {
    let recorder = Recorder::create(path).unwrap();
    let builder = Runtime::builder(project.path()).tape(&recorder);
    let runtime = builder.load().unwrap_or_else(|error| panic!("{error}"));
    work(&runtime);
    recorder.close().unwrap();
}

/// The bytes of a tape of such work.
pub fn recorded(project: &Project, work: impl FnOnce(&Runtime)) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.tape");
    record(project, &path, work);
    std::fs::read(path).unwrap()
}

/// A tape with an allow, a veto, a question, a modified payload, a long payload twice
/// and a nested dispatch: six dispatches of the agent's own.
pub fn tape() -> &'static [u8] {
    static TAPE: OnceLock<Vec<u8>> = OnceLock::new();
    TAPE.get_or_init(|| recorded(&studio(), everything))
}

/// The same again at another time.
pub fn other_tape() -> &'static [u8] {
    static TAPE: OnceLock<Vec<u8>> = OnceLock::new();
    TAPE.get_or_init(|| recorded(&studio(), everything))
}

/// One dispatch that is allowed.
pub fn small_tape() -> &'static [u8] {
    static TAPE: OnceLock<Vec<u8>> = OnceLock::new();
    TAPE.get_or_init(|| {
        let project = Project::script("def handle(event, payload):\n    return allow()");
        recorded(&project, |runtime| {
            runtime.dispatch("tool.pre", command("ls")).unwrap();
        })
    })
}

fn everything(runtime: &Runtime) {
    for text in ["ls", "rm -rf /", "deploy"] {
        runtime.dispatch("tool.pre", command(text)).unwrap();
    }
    let untidy = json!({"id": "call_2", "name": "tidy", "args": {"tidy": false}});
    runtime.dispatch("tool.pre", untidy).unwrap();
    let long = command(&format!("echo {}", "long ".repeat(150)));
    runtime.dispatch("tool.pre", long).unwrap();
    runtime.dispatch("turn.start", json!("hello")).unwrap();
}

/// How many dispatches of the agent's own [`tape`] has.
pub const DISPATCHES: usize = 6;

/// Splits a tape into its lines, with their ends.
pub fn lines(tape: &[u8]) -> Vec<&[u8]> {
    tape.split_inclusive(|&byte| byte == b'\n').collect()
}

/// The records of a tape as JSON.
pub fn values(tape: &[u8]) -> Vec<Value> {
    let parse = |line| serde_json::from_slice(line).unwrap();
    lines(tape).into_iter().map(parse).collect()
}

pub fn digest(bytes: impl AsRef<[u8]>) -> String {
    blake3::hash(bytes.as_ref()).to_hex().to_string()
}

/// The hash of a record that is not redacted, by its line: a body counts without its text.
pub fn hash(line: &str) -> String {
    match line.split_once(r#","text":"#) {
        Some((before, _)) if line.starts_with(r#"{"body":"#) => digest(format!("{before}}}")),
        _ => digest(line),
    }
}

/// Writes records with the numbers, hashes and footers of a tape that nobody changed.
pub fn chained(records: &[Value]) -> Vec<u8> {
    chained_as(records, |_, record| hookbox::canonical::text(record))
}

/// The same with lines that are written in another way.
pub fn chained_as(records: &[Value], write: impl Fn(usize, &Value) -> String) -> Vec<u8> {
    let mut head = "0".repeat(64);
    let mut tape = Vec::new();
    for (index, record) in records.iter().enumerate() {
        let mut record = record.clone();
        record["n"] = json!(index);
        record["prev"] = json!(head);
        if record["kind"] == "footer" {
            record["count"] = json!(index);
            record["head"] = json!(head);
            let of_kind = |kind: &'static str| move |one: &&Value| one["kind"] == kind;
            let dispatches = records.iter().filter(of_kind("dispatch"));
            record["dispatches"] = json!(
                dispatches
                    .filter_map(|one| one["in"].as_u64())
                    .max()
                    .unwrap_or(0)
            );
            record["sessions"] = json!(records.iter().filter(of_kind("session")).count());
        }
        let line = write(index, &record);
        head = match record.get("redacted") {
            Some(redacted) => redacted["was"].as_str().unwrap().to_owned(),
            None => hash(&line),
        };
        tape.extend_from_slice(line.as_bytes());
        tape.push(b'\n');
    }
    tape
}

/// A tape in which something was changed and all hashes made to fit again.
pub fn edited(tape: &[u8], edit: impl FnOnce(&mut Vec<Value>)) -> Vec<u8> {
    let mut records = values(tape);
    edit(&mut records);
    chained(&records)
}

/// Where the first record of a kind stands.
pub fn find(records: &[Value], kind: &str) -> usize {
    let found = records.iter().position(|record| record["kind"] == kind);
    found.unwrap_or_else(|| panic!("no {kind}"))
}

/// What a tape comes to when it is read to its end.
#[derive(Debug)]
pub struct Whole {
    pub records: Vec<Record>,
    pub ending: Ending,
    pub head: String,
}

/// Reads every record.
pub fn read(tape: &[u8]) -> Result<Whole, TapeError> {
    drain(Reader::new(tape)?)
}

/// The same, and every line has to be canonical.
pub fn read_strictly(tape: &[u8]) -> Result<Whole, TapeError> {
    drain(Reader::new(tape)?.strict())
}

fn drain(mut reader: Reader<&[u8]>) -> Result<Whole, TapeError> {
    let mut records = Vec::new();
    while let Some(record) = reader.next_record()? {
        records.push(record);
    }
    assert_eq!(reader.records(), records.len() as u64);
    Ok(Whole {
        records,
        ending: reader.ending().unwrap(),
        head: reader.head().to_string(),
    })
}

/// What a tape comes to when it is replayed to its end.
#[derive(Debug)]
pub struct Played {
    pub dispatches: Vec<Dispatch>,
    pub ending: Ending,
    pub unfinished: Vec<u64>,
    pub clock_set_back: Option<u64>,
}

/// Replays every dispatch.
pub fn play(tape: &[u8]) -> Result<Played, TapeError> {
    let mut replay = Replay::new(Reader::new(tape)?);
    let mut dispatches = Vec::new();
    while let Some(dispatch) = replay.next_dispatch()? {
        dispatches.push(dispatch);
    }
    Ok(Played {
        dispatches,
        ending: replay.reader().ending().unwrap(),
        unfinished: replay.unfinished(),
        clock_set_back: replay.clock_set_back(),
    })
}

/// Replays a file that has to be one that can be replayed.
pub fn play_file(path: &Path) -> Played {
    let tape = std::fs::read(path).unwrap();
    play(&tape).unwrap_or_else(|error| panic!("{error}"))
}

/// The message about a tape that has to be refused by its reader or its replay.
pub fn refusal(tape: &[u8]) -> String {
    match play(tape) {
        Err(error) => error.to_string(),
        Ok(played) => panic!("accepted: {:?}", played.ending),
    }
}

/// The record that an error is about; none if it is about the whole file.
pub fn culprit(error: &TapeError) -> Option<u64> {
    match error {
        TapeError::Read { record, .. }
        | TapeError::TooLong { record, .. }
        | TapeError::Damaged { record, .. }
        | TapeError::Order { record, .. }
        | TapeError::Chain { record }
        | TapeError::Story { record, .. } => Some(*record),
        TapeError::File { .. }
        | TapeError::Empty
        | TapeError::NotATape(_)
        | TapeError::Newer { .. }
        | TapeError::Older { .. } => None,
    }
}
