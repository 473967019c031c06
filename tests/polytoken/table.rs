//! The tables of outcomes, exit codes and failures. What has to come out is written down in
//! `cases/` and `failures.json`; here is only what compares.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Mutex;
use std::thread;

use hookbox::{Outcome, Runtime};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::support::Project;
use crate::support::programs::{PLACES, Place, Says, endless, trap};
use crate::{builder, data, load, native, project, write};

/// A file of cases: all of one event.
#[derive(Deserialize)]
struct Table {
    event: String,
    payload: Value,
    /// Whether the event waits for its hooks.
    waits: bool,
    /// How a message about a bad answer ends.
    advice: String,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    #[serde(default)]
    stdout: String,
    #[serde(default)]
    stderr: String,
    #[serde(default)]
    exit: u8,
    /// The outcome in Polytoken's own form; `{error}` stands for the error.
    answer: Value,
    decision: String,
    #[serde(default)]
    effects: Vec<Value>,
    /// How the handler failed; `{advice}` stands for the table's.
    error: Option<String>,
}

/// What came of an event.
#[derive(Debug, PartialEq)]
struct Seen {
    answer: Value,
    decision: String,
    reason: Option<String>,
    effects: Value,
    errors: Vec<String>,
    warnings: usize,
}

impl Seen {
    fn expected(table: &Table, case: &Case) -> Self {
        let error = case.error.as_ref();
        let error = error.map(|error| error.replace("{advice}", &table.advice));
        let mut answer = case.answer.clone();
        if let (Some(error), Some(Value::String(reason))) = (&error, answer.get_mut("reason")) {
            *reason = reason.replace("{error}", error);
        }
        let blocked = case.decision == "block";
        Self {
            reason: answer["reason"].as_str().map(str::to_owned),
            decision: case.decision.clone(),
            effects: case.effects.clone().into(),
            // One that fails and does not stop the event is at least reported.
            warnings: usize::from(error.is_some() && !blocked),
            errors: error.into_iter().collect(),
            answer,
        }
    }

    /// Sends the event, and adds what came of its hook in the background.
    fn of(runtime: &Runtime, event: &str, payload: Value, waits: bool) -> (Self, Outcome) {
        let outcome = runtime.dispatch(event, payload).unwrap();
        let mut later = runtime.flush();
        let mut seen = Self {
            answer: native(runtime, &outcome),
            decision: outcome.decision.name().to_owned(),
            reason: outcome.reason.clone(),
            effects: serde_json::to_value(&outcome.effects).unwrap(),
            errors: Vec::new(),
            warnings: outcome.warnings.len(),
        };
        let ran = if waits {
            assert!(later.is_empty(), "{event} waits");
            outcome
        } else {
            assert_eq!(later.len(), 1, "{event} does not wait");
            assert!(outcome.trace[0].background && outcome.stages.dispatch.is_empty());
            later.remove(0)
        };
        assert_eq!(ran.trace.len(), 1);
        assert!(ran.trace[0].matched);
        seen.errors.extend(ran.trace[0].error.clone());
        if !waits {
            seen.warnings += ran.warnings.len();
        }
        (seen, ran)
    }
}

/// A project in which one hook after the other is tried.
struct Bench {
    project: Project,
    runtime: Runtime,
    place: Place,
    /// The components that are there, by what they say.
    components: HashMap<(String, String, u8), Value>,
}

impl Bench {
    fn new(place: Place) -> Self {
        let project = project(json!([]));
        Self {
            runtime: load(&project),
            project,
            place,
            components: HashMap::new(),
        }
    }

    fn handler(&mut self, case: &Case) -> Value {
        let says = Says::new(&case.stdout, &case.stderr, case.exit);
        if self.place == Place::Process {
            return says.polytoken(&self.project, self.place, "");
        }
        let name = format!("says-{}", self.components.len());
        let key = (case.stdout.clone(), case.stderr.clone(), case.exit);
        let component = self.components.entry(key);
        let make = || says.polytoken(&self.project, self.place, &name);
        component.or_insert_with(make).clone()
    }

    fn run(&mut self, table: &Table, case: &Case) -> Seen {
        let handler = self.handler(case);
        let hook = json!({"name": "probe", "event": table.event, "handler": handler});
        write(&self.project, json!([hook]));
        self.runtime.reload().unwrap();
        Seen::of(
            &self.runtime,
            &table.event,
            table.payload.clone(),
            table.waits,
        )
        .0
    }
}

fn tables() -> Vec<Table> {
    let mut paths: Vec<PathBuf> = (std::fs::read_dir(data("cases")).unwrap())
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    paths.into_iter().map(read).collect()
}

/// Does some work for each of several things, on a few threads: many get in each other's
/// way, as every process that ends looks at all that are younger.
fn each<T: Send>(things: Vec<T>, work: impl Fn(T) -> Vec<String> + Sync) -> Vec<String> {
    let things = Mutex::new(things);
    let wrong = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                loop {
                    let Some(thing) = things.lock().unwrap().pop() else {
                        return;
                    };
                    let found = work(thing);
                    wrong.lock().unwrap().extend(found);
                }
            });
        }
    });
    wrong.into_inner().unwrap()
}

#[test]
fn pt_040_every_case_means_the_same_as_a_process_and_as_a_component() {
    let tables = tables();
    assert_eq!(tables.len(), 14);
    let jobs = (tables.iter())
        .flat_map(|table| PLACES.map(|place| (table, place)))
        .collect();
    let wrong = each(jobs, |(table, place)| {
        let mut bench = Bench::new(place);
        let mut wrong = Vec::new();
        for case in &table.cases {
            let (seen, expected) = (bench.run(table, case), Seen::expected(table, case));
            if seen != expected {
                wrong.push(format!(
                    "{}, {}, {place:?}:\n  {seen:?}\nnot\n  {expected:?}",
                    table.event, case.name
                ));
            }
        }
        wrong
    });
    let count = wrong.len();
    let some = wrong.into_iter().take(20).collect::<Vec<_>>().join("\n");
    assert_eq!(count, 0, "{some}");
}

#[test]
fn every_event_has_all_the_cases_that_every_event_has() {
    let tables = tables();
    let names = |table: &Table| -> Vec<String> {
        let names = table.cases.iter().map(|case| case.name.clone());
        names.collect()
    };
    for name in names(&tables[0]) {
        // What an event may carry differs; words, shapes and exit codes do not.
        let own = name.contains(" with ") || name.contains(" whose ");
        for table in tables.iter().filter(|_| !own) {
            assert!(names(table).contains(&name), "{}: {name}", table.event);
        }
    }
}

/// The ways to fail, and what each event makes of a failure.
#[derive(Deserialize)]
struct Failures {
    ways: Vec<Way>,
    events: Vec<Failed>,
}

#[derive(Deserialize)]
struct Way {
    name: String,
    /// The script that fails like that; none if only a component can.
    bash: Option<String>,
    /// The name of a component; none if only a process can.
    wasm: Option<String>,
    #[serde(default)]
    limits: Value,
    /// The only environment there is.
    path: Option<String>,
    cause: Value,
}

#[derive(Deserialize)]
struct Failed {
    event: String,
    payload: Value,
    waits: bool,
    answer: Value,
    decision: String,
}

fn failing(name: &str) -> Vec<u8> {
    match name {
        "trap" => trap(),
        "endless" => endless(),
        "text" => Says::new("no json", "", 0).wasm(),
        "exit 7" => Says::new("", "boom", 7).wasm(),
        _ => panic!("no component {name:?}"),
    }
}

#[test]
fn pt_058_pt_060_pt_061_a_failure_closes_opens_or_is_logged_as_the_event_has_it() {
    let text = std::fs::read_to_string(data("failures.json")).unwrap();
    let failures: Failures = serde_json::from_str(&text).unwrap();
    assert_eq!(failures.events.len(), 14);
    let jobs = (failures.ways.iter())
        .flat_map(|way| PLACES.map(|place| (way, place)))
        .collect();
    let wrong = each(jobs, |(way, place)| {
        let project = Project::new();
        let handler = match (place, &way.bash, &way.wasm) {
            (Place::Process, Some(script), _) => json!({"bash": script}),
            (Place::Component, _, Some(name)) => {
                project.file(".polytoken/fails.wasm", failing(name));
                json!({"wasm": "fails.wasm"})
            }
            _ => return Vec::new(),
        };
        write(&project, json!([]));
        let mut builder = builder(&project);
        if let Some(path) = way.path.clone() {
            builder = builder.environment(move |name| (name == "PATH").then(|| path.clone()));
        }
        let mut runtime = builder.load().unwrap();
        let mut wrong = Vec::new();
        for failed in &failures.events {
            let mut hook = json!({"name": "probe", "event": failed.event, "handler": handler});
            if way.limits.is_object() {
                hook["limits"] = way.limits.clone();
            }
            write(&project, json!([hook]));
            runtime.reload().unwrap();
            let (seen, ran) = Seen::of(
                &runtime,
                &failed.event,
                failed.payload.clone(),
                failed.waits,
            );
            let error = seen.errors.first().cloned().unwrap_or_default();
            let mut answer = failed.answer.clone();
            if let Some(Value::String(reason)) = answer.get_mut("reason") {
                *reason = reason.replace("{error}", &error);
            }
            let cause = serde_json::to_value(ran.trace[0].cause).unwrap();
            let blocked = failed.decision == "block";
            let right = seen.answer == answer
                && seen.decision == failed.decision
                && seen.warnings == usize::from(!blocked)
                && cause == way.cause;
            if !right {
                wrong.push(format!(
                    "{}, {}, {place:?}: {cause} {seen:?}",
                    failed.event, way.name
                ));
            }
        }
        wrong
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
