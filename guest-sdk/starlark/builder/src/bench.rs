//! Measures what a call costs in an instance of its own.

use std::path::Path;
use std::time::{Duration, Instant};

use wasmtime::component::Component;
use wasmtime::{Engine, Result, Store, format_err};

use crate::host::{Event, Host, Starlark, StarlarkPre, config, store};

const ROUNDS: usize = 2000;

const SCRIPT: &str = r#"
def handle(event, payload):
    cmd = payload.get("args", {}).get("command", "")
    dangerous = [
        "rm -rf /",
        ":(){ :|:& };:",
        "mkfs",
        "dd if=",
        "shutdown",
    ]
    for d in dangerous:
        if d in cmd:
            metrics.incr("audit.policy.deny")
            return block("dangerous command pattern blocked: '" + d + "'")
    return allow()
"#;

/// The same with a pattern.
const SEARCH: &str = r#"
def handle(event, payload):
    if re.search("[a-z0-9_]+=[^ ]*", payload["args"]["command"]):
        return block("no")
    return allow()
"#;

const CONDITION: &str = "payload[\"name\"] == \"run_command\"";

/// Runs the measurements and prints them.
pub fn run(component: &Path) -> Result<()> {
    let start = Instant::now();
    let engine = Engine::new(&config())?;
    let pre = crate::host::link(&Component::from_file(&engine, component)?)?;
    println!("compiled in {:.1} s", start.elapsed().as_secs_f64());

    let event = |command: &str| Event {
        name: "tool.pre".to_owned(),
        payload: format!(
            r#"{{"id":"call_abc123","name":"run_command","arguments":"{{\"command\": \"{command}\"}}","args":{{"command":"{command}"}}}}"#
        ),
        id: "call_abc123".to_owned(),
        subject: Some("run_command".to_owned()),
        hook: "command_guard".to_owned(),
        depth: 0,
    };
    let (bad, good) = (event("sudo rm -rf / --no-preserve-root"), event("ls -la"));

    let mut store = store(&engine)?;
    let instance = pre.instantiate(&mut store)?;
    let guest = instance.hookbox_starlark_interpreter();
    println!(
        "load-when: {:?}",
        guest.call_load_when(&mut store, CONDITION)?
    );
    println!("matches: {:?}", guest.call_matches(&mut store, &bad)?);
    println!("load: {:?}", guest.call_load(&mut store, SCRIPT)?);
    println!("handle: {:?}", guest.call_handle(&mut store, &bad)?);
    println!("metrics: {:?}", store.data().counters);

    measure("instantiate + drop", &pre, |_, _| Ok(()))?;
    measure("load + handle, block", &pre, |guest, store| {
        load_and_handle(guest, store, SCRIPT, &bad)
    })?;
    measure("load + handle, allow", &pre, |guest, store| {
        load_and_handle(guest, store, SCRIPT, &good)
    })?;
    measure("load + handle, pattern", &pre, |guest, store| {
        load_and_handle(guest, store, SEARCH, &good)
    })?;
    measure("load-when + matches", &pre, |guest, store| {
        let guest = guest.hookbox_starlark_interpreter();
        let problem = |problem| format_err!("{problem:?}");
        guest
            .call_load_when(&mut *store, CONDITION)?
            .map_err(problem)?;
        guest.call_matches(store, &bad)?.map_err(problem)?;
        Ok(())
    })?;
    measure("check-script", &pre, |guest, store| {
        guest
            .hookbox_starlark_interpreter()
            .call_check_script(store, SCRIPT)?;
        Ok(())
    })
}

fn load_and_handle(
    guest: &Starlark,
    store: &mut Store<Host>,
    script: &str,
    event: &Event,
) -> Result<()> {
    let guest = guest.hookbox_starlark_interpreter();
    let problem = |problem| format_err!("{problem:?}");
    guest.call_load(&mut *store, script)?.map_err(problem)?;
    guest.call_handle(store, event)?.map_err(problem)?;
    Ok(())
}

fn measure(
    name: &str,
    pre: &StarlarkPre<Host>,
    work: impl Fn(&Starlark, &mut Store<Host>) -> Result<()>,
) -> Result<()> {
    let mut times = Vec::with_capacity(ROUNDS);
    let mut fuel = 0;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let mut store = store(pre.engine())?;
        let instance = pre.instantiate(&mut store)?;
        work(&instance, &mut store)?;
        fuel = crate::host::FUEL - store.get_fuel()?;
        drop(store);
        times.push(start.elapsed());
    }
    times.sort();
    let micros = |time: &Duration| time.as_secs_f64() * 1e6;
    println!(
        "{name:24} min {:7.1} µs  median {:7.1} µs  fuel {fuel}",
        micros(&times[0]),
        micros(&times[ROUNDS / 2])
    );
    Ok(())
}

/// Calls one script with one payload and prints what comes out, and at what
/// cost in a fresh instance.
pub fn try_out(component: &Path, script: &str, payload: &str) -> Result<()> {
    let engine = Engine::new(&config())?;
    let pre = crate::host::link(&Component::from_file(&engine, component)?)?;
    let mut store = store(&engine)?;
    let instance = pre.instantiate(&mut store)?;
    let guest = instance.hookbox_starlark_interpreter();
    println!("{:#?}", guest.call_check_script(&mut store, script)?);
    let event = Event {
        name: "tool.pre".to_owned(),
        payload: payload.to_owned(),
        id: "1".to_owned(),
        subject: None,
        hook: "try".to_owned(),
        depth: 0,
    };
    let mut store = crate::host::store(&engine)?;
    let instance = pre.instantiate(&mut store)?;
    let guest = instance.hookbox_starlark_interpreter();
    println!("{:#?}", guest.call_load(&mut store, script)?);
    let loaded = crate::host::FUEL - store.get_fuel()?;
    println!("{:#?}", guest.call_handle(&mut store, &event)?);
    let handled = crate::host::FUEL - store.get_fuel()? - loaded;
    println!("fuel: load {loaded}, handle {handled}");
    Ok(())
}
