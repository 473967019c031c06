//! Finds out which functions of the interpreter calls use.

use wasmtime::component::Component;
use wasmtime::{Engine, Result, Store, format_err};

use crate::host::{Event, Host, Starlark, StarlarkPre, config, link, store};
use crate::order::{Marked, Use};
use crate::samples::{SAMPLES, Sample};

/// Memory as it was shown: parts with their addresses.
type Shown = Vec<(u32, Vec<u8>)>;

/// Runs the samples and says when each function was used first. `component` is made of the
/// marked module.
pub fn run(component: &[u8], marked: &Marked) -> Result<Vec<Use>> {
    let engine = Engine::new(&config())?;
    let trace = Trace {
        ready: link(&Component::new(&engine, component)?)?,
        marked,
    };
    let mut uses = vec![Use::Never; marked.count as usize];
    for sample in SAMPLES {
        for (function, used) in trace.sample(sample)?.into_iter().enumerate() {
            uses[function] = uses[function].min(used);
        }
    }
    Ok(uses)
}

struct Trace<'a> {
    ready: StarlarkPre<Host>,
    marked: &'a Marked,
}

impl Trace<'_> {
    fn sample(&self, sample: &Sample) -> Result<Vec<Use>> {
        let (mut store, guest) = self.fresh(&(Vec::new(), Vec::new()))?;
        let before = show(&guest, &mut store)?;
        load(sample, &guest, &mut store)?;
        let after = show(&guest, &mut store)?;
        let loading = self.marks(&after);

        let (mut store, guest) = self.fresh(&self.difference(&before, &after))?;
        call(sample, &guest, &mut store)?;
        let calling = self.marks(&show(&guest, &mut store)?);
        Ok(calling
            .iter()
            .zip(loading)
            .map(|(called, loaded)| match (called, loaded) {
                (1, _) => Use::Calling,
                (_, 1) => Use::Loading,
                _ => Use::Never,
            })
            .collect())
    }

    /// Makes an instance with an image in it and no marks but those of putting it there.
    fn fresh(&self, image: &(Vec<u32>, Vec<Vec<u8>>)) -> Result<(Store<Host>, Starlark)> {
        let mut store = store(self.ready.engine())?;
        let guest = self.ready.instantiate(&mut store)?;
        let put = |store: &mut Store<Host>, addresses: &[u32], blocks: &[Vec<u8>]| {
            guest.hookbox_starlark_image().call_begin(&mut *store, 0)?;
            guest
                .hookbox_starlark_image()
                .call_put(store, addresses, blocks)
        };
        let nothing = vec![0; self.marked.count as usize];
        put(&mut store, &[self.marked.at], &[nothing])?;
        put(&mut store, &image.0, &image.1)?;
        Ok((store, guest))
    }

    fn marks(&self, shown: &Shown) -> Vec<u8> {
        let start = self.marked.at as usize;
        let part = shown.iter().rfind(|(at, _)| *at <= self.marked.at);
        let (at, bytes) = part.expect("the marks are shown");
        bytes[start - *at as usize..][..self.marked.count as usize].to_vec()
    }

    /// Returns what differs, page by page, but for the marks.
    fn difference(&self, before: &Shown, after: &Shown) -> (Vec<u32>, Vec<Vec<u8>>) {
        const PIECE: usize = 64;
        let marks = self.marked.at..self.marked.at + self.marked.count;
        let mut image = (Vec::new(), Vec::new());
        for ((at, before), (_, after)) in before.iter().zip(after) {
            let pieces = before.chunks(PIECE).zip(after.chunks(PIECE));
            for (address, (before, after)) in (*at..).step_by(PIECE).zip(pieces) {
                if before != after && !marks.contains(&address) {
                    image.0.push(address);
                    image.1.push(after.to_vec());
                }
            }
        }
        image
    }
}

fn show(guest: &Starlark, store: &mut Store<Host>) -> Result<Shown> {
    store.data_mut().shown.clear();
    guest.hookbox_starlark_image().call_show(&mut *store)?;
    Ok(std::mem::take(&mut store.data_mut().shown))
}

fn load(sample: &Sample, guest: &Starlark, store: &mut Store<Host>) -> Result<()> {
    let interpreter = guest.hookbox_starlark_interpreter();
    let loaded = match sample {
        Sample::When(code, _) => interpreter.call_load_when(store, code)?,
        Sample::Script(code, _) => interpreter.call_load(store, code)?,
    };
    loaded.map_err(|problem| format_err!("a sample does not load: {problem:?}"))
}

/// Calls what was loaded. It may raise an error: those are calls, too.
fn call(sample: &Sample, guest: &Starlark, store: &mut Store<Host>) -> Result<()> {
    let interpreter = guest.hookbox_starlark_interpreter();
    let event = |payload: &str| Event {
        name: "tool.pre".to_owned(),
        payload: payload.to_owned(),
        id: "call_1".to_owned(),
        subject: Some("run_command".to_owned()),
        hook: "sample".to_owned(),
        depth: 0,
    };
    match sample {
        Sample::When(_, payload) => interpreter.call_matches(store, &event(payload)).map(drop),
        Sample::Script(_, payload) => interpreter.call_handle(store, &event(payload)).map(drop),
    }
}
