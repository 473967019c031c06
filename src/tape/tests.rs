//! Whatever can be recorded reads back as it was, from lines that are canonical.

use std::sync::Arc;
use std::time::Duration;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use super::convert::from_line;
use super::encode::{Encoder, Position};
use super::line::{Kind, Line};
use super::quick;
use super::read::{Ending, Reader};
use super::record::{
    Cut, End, Entry, Fault, HookCall, HookPrint, HookReturned, HookVetoed, HostCall, Lost, Phase,
    Predicate, Project, Record, Start, Undecided, Used,
};
use super::seal::Hash;
use super::text::Text;
use super::track::Loose;
use super::words::Words;
use crate::canonical;
use crate::capability::log::{Level, LogLine};
use crate::decision::{Effect, Placement, Propagation, Reminder, RoleHint, Ruling, Said};
use crate::failure::Cause;
use crate::outcome::{Stages, TraceRow};

/// Texts with everything that has to be escaped, and a few long ones.
fn text() -> impl Strategy<Value = String> + Clone {
    prop_oneof![
        8 => "[a-z\"\\\\/\u{0}-\u{1f}\u{7f}é\u{2028}\u{fb33}\u{10000}]{0,12}",
        1 => ("[a-z\n\"]", 400..700_usize).prop_map(|(piece, count)| piece.repeat(count)),
    ]
}

fn shared() -> impl Strategy<Value = Arc<str>> + Clone {
    text().prop_map(Arc::from)
}

fn hash() -> impl Strategy<Value = Hash> {
    any::<[u8; 4]>().prop_map(|bytes| Hash::of(&bytes))
}

fn ruling() -> impl Strategy<Value = Ruling> {
    use Ruling::{Allow, Ask, Block, Modify};
    prop_oneof![Just(Allow), Just(Block), Just(Modify), Just(Ask)]
}

fn cause() -> impl Strategy<Value = Cause> {
    use Cause::{BadAnswer, Busy, Deadline, HostCalls, NewRequest, OutOfFuel, Stack, Trap};
    let all = [
        BadAnswer, Busy, Deadline, HostCalls, NewRequest, OutOfFuel, Stack, Trap,
    ];
    proptest::sample::select(all.to_vec())
}

fn fault() -> impl Strategy<Value = Fault> {
    (cause(), text(), option::of(text())).prop_map(|(cause, message, stack)| Fault {
        cause,
        message,
        stack,
    })
}

fn hook_print() -> impl Strategy<Value = HookPrint> {
    let texts = (text(), text(), text(), text(), text());
    (option::of(text()), texts, any::<i64>(), hash()).prop_map(
        |(component, (dialect, event, file, handler, name), priority, source)| HookPrint {
            component,
            dialect,
            event,
            file,
            handler,
            name,
            priority,
            source,
        },
    )
}

fn project() -> impl Strategy<Value = Project> {
    let cut = (hash(), any::<u64>()).prop_map(|(head, dispatches)| Cut { dispatches, head });
    (
        (option::of(hash()), option::of(cut), text(), text()),
        vec(hook_print(), 0..3),
        (option::of(any::<u64>()), any::<u64>(), vec(text(), 0..3)),
    )
        .prop_map(
            |((config, cut, engine, hookbox), hooks, (recovered_bytes, time, tools))| Project {
                config,
                cut,
                engine,
                hookbox,
                hooks,
                recovered_bytes,
                time,
                tools,
            },
        )
}

fn effect() -> impl Strategy<Value = Effect> {
    let context = text().prop_map(|text| Effect::Context {
        text,
        placement: Placement::PrependToPrompt,
    });
    let reminder = (
        text(),
        vec(text(), 0..3),
        option::of(text()),
        option::of(any::<u32>()),
        any::<bool>(),
    )
        .prop_map(|(body, tags, dedupe_key, ttl_turns, preserve_on_compact)| {
            Effect::Reminder(Reminder {
                body,
                tags,
                dedupe_key,
                ttl_turns,
                preserve_on_compact,
                propagate: Propagation::Session,
                role_hint: RoleHint::UserBlock,
            })
        });
    prop_oneof![context, reminder]
}

fn log_line() -> impl Strategy<Value = LogLine> {
    (shared(), shared(), text()).prop_map(|(hook, event, message)| LogLine {
        hook,
        event,
        level: Level::Warn,
        message,
    })
}

fn used() -> impl Strategy<Value = Used> {
    let numbers = (
        option::of(any::<u64>()),
        any::<u64>(),
        any::<u64>(),
        any::<u64>(),
    );
    (
        numbers,
        vec(log_line(), 0..3),
        vec(text(), 0..3),
        vec(text(), 0..3),
    )
        .prop_map(
            |((fuel, memory_bytes, at_us, took_us), logs, warnings, refusals)| Used {
                fuel,
                memory_bytes,
                at_us,
                took_us,
                logs,
                warnings,
                refusals,
            },
        )
}

fn row() -> impl Strategy<Value = TraceRow> {
    (
        (shared(), text(), any::<i64>(), any::<bool>()),
        (
            option::of(ruling()),
            option::of(text()),
            option::of(text()),
            option::of(cause()),
            option::of(text()),
        ),
        (
            option::of(any::<u64>()),
            option::of(any::<u64>()),
            vec(text(), 0..2),
            any::<u64>(),
            any::<u32>(),
        ),
    )
        .prop_map(|(who, what, cost)| TraceRow {
            hook: who.0,
            dialect: who.1.into(),
            priority: who.2,
            matched: who.3,
            background: !who.3,
            decision: what.0,
            reason: what.1,
            error: what.2,
            cause: what.3,
            stack: what.4,
            fuel: cost.0,
            when_fuel: cost.1,
            refusals: cost.2,
            memory_bytes: cost.3,
            duration: Duration::from_micros(cost.4.into()),
        })
}

fn stages() -> impl Strategy<Value = Stages> {
    let names = || vec(shared(), 0..3);
    (names(), names(), names(), names(), option::of(ruling())).prop_map(
        |(filter, sort, dispatch, compose, r#return)| Stages {
            filter,
            sort,
            dispatch,
            compose,
            r#return,
        },
    )
}

fn end() -> impl Strategy<Value = Entry> {
    (
        (
            (ruling(), option::of(said()), any::<bool>()),
            option::of(text()),
            option::of(shared()),
            shared(),
        ),
        (
            vec(effect(), 0..3),
            vec(text(), 0..3),
            stages(),
            vec(row(), 0..3),
            any::<u64>(),
        ),
    )
        .prop_map(
            |(
                ((decision, said, raised), reason, hook, payload),
                (effects, warnings, stages, trace, took_us),
            )| {
                Entry::Outcome(End {
                    decision,
                    reason,
                    hook,
                    said,
                    raised,
                    payload,
                    effects,
                    warnings,
                    stages,
                    trace,
                    took_us,
                })
            },
        )
}

fn said() -> impl Strategy<Value = Said> {
    (option::of(text()), option::of(text()), text()).prop_map(|(stderr, stdout, verb)| Said {
        reason: stderr.clone(),
        stderr,
        stdout,
        verb: verb.into(),
    })
}

fn start() -> impl Strategy<Value = Entry> {
    let dialect = (text(), option::of(shared()), any::<bool>());
    let numbers = (any::<u32>(), option::of(any::<u64>()), any::<u64>());
    (
        shared(),
        dialect,
        text(),
        option::of(text()),
        shared(),
        numbers,
    )
        .prop_map(
            |(event, (dialect, about, background), id, subject, payload, (depth, parent, time))| {
                Entry::Dispatch(Start {
                    event,
                    dialect: dialect.into(),
                    about,
                    background,
                    id,
                    subject,
                    depth,
                    payload,
                    parent,
                    session: 0,
                    time,
                })
            },
        )
}

fn host_call() -> impl Strategy<Value = Entry> {
    let phase = prop_oneof![Just(Phase::When), Just(Phase::Handle)];
    let texts = (shared(), text(), shared(), shared());
    (texts, phase, any::<bool>(), any::<u64>(), any::<u64>()).prop_map(
        |((hook, capability, request, answer), phase, derived, at_us, took_us)| {
            Entry::HostCall(HostCall {
                hook,
                phase,
                capability: capability.into(),
                request,
                answer,
                derived,
                at_us,
                took_us,
            })
        },
    )
}

fn returned() -> impl Strategy<Value = Entry> {
    let what = (ruling(), option::of(text()), option::of(shared()));
    (
        shared(),
        what,
        vec(effect(), 0..3),
        (option::of(said()), any::<bool>(), option::of(fault())),
        used(),
    )
        .prop_map(
            |(hook, (decision, reason, payload), effects, (said, last, failure), used)| {
                Entry::HookReturned(HookReturned {
                    hook,
                    decision,
                    reason,
                    payload,
                    effects,
                    said,
                    last,
                    failure,
                    used,
                })
            },
        )
}

/// What belongs to a dispatch.
fn inside() -> impl Strategy<Value = Entry> {
    let predicate = (shared(), any::<bool>(), option::of(fault()), used()).prop_map(
        |(hook, matched, failure, used)| {
            Entry::Predicate(Predicate {
                hook,
                matched,
                failure,
                used,
            })
        },
    );
    let call = (shared(), text(), shared(), any::<bool>(), any::<u64>()).prop_map(
        |(hook, handler, payload, collected, at_us)| {
            Entry::HookCall(HookCall {
                hook,
                handler: handler.into(),
                payload,
                collected,
                at_us,
            })
        },
    );
    let veto = prop_oneof![Just(Ruling::Block), Just(Ruling::Ask), Just(Ruling::Allow)];
    let vetoed = (shared(), veto, text()).prop_map(|(hook, decision, reason)| {
        Entry::HookVetoed(HookVetoed {
            hook,
            decision,
            reason,
        })
    });
    prop_oneof![
        start(),
        predicate,
        call,
        host_call(),
        returned(),
        vetoed,
        end()
    ]
}

/// What belongs to none.
fn outside() -> impl Strategy<Value = Entry> {
    let undecided = (text(), text(), any::<u64>())
        .prop_map(|(event, error, time)| Entry::Undecided(Undecided { event, error, time }));
    let lost =
        (any::<u64>(), vec(any::<u64>(), 0..4), text()).prop_map(|(count, dispatches, error)| {
            Entry::Lost(Lost {
                count,
                dispatches,
                error,
            })
        });
    prop_oneof![project().prop_map(Entry::Session), undecided, lost]
}

fn loose() -> impl Strategy<Value = Loose> {
    prop_oneof![
        5 => (any::<u64>(), inside()).prop_map(|(dispatch, entry)| (Some(dispatch), entry)),
        2 => outside().prop_map(|entry| (None, entry)),
    ]
}

/// What was read of a line, if anything was.
type Read = Option<(Kind, Hash, Record)>;

/// Reads a line both ways; the quick one need not be able to.
fn both_ways(line: &str) -> (Read, Read) {
    // A body is whatever its hash says here.
    let named = |hash: Hash| -> Arc<str> { hash.to_string().into() };
    let quick = quick::read(line, &mut Words::default()).map(|mut quick| {
        for (slot, hash) in quick.bodies.into_iter().flatten() {
            quick.put(slot, named(hash));
        }
        (quick.kind, quick.prev, quick.record)
    });
    let whole = serde_json::from_str::<Line>(line)
        .ok()
        .and_then(|mut line| {
            let (kind, prev) = (line.kind, line.prev?);
            let record = from_line(&mut line, &mut |text| {
                Ok(match text {
                    Text::Inline(text) => text,
                    Text::Body(hash) => named(hash),
                })
            });
            Some((kind, prev, record.ok()?))
        });
    (quick, whole)
}

/// Says whether an entry has nothing that is left to serde.
fn is_plain(entry: &Entry) -> bool {
    match entry {
        Entry::Dispatch(_) | Entry::HookCall(_) | Entry::HostCall(_) => true,
        Entry::HookVetoed(_) | Entry::Body(_) => true,
        Entry::Predicate(one) => one.failure.is_none(),
        Entry::HookReturned(one) => {
            one.failure.is_none() && one.said.is_none() && one.effects.is_empty()
        }
        Entry::Outcome(end) => {
            let row = |row: &TraceRow| row.cause.is_none() && row.error.is_none();
            end.said.is_none() && end.effects.is_empty() && !end.raised && end.trace.iter().all(row)
        }
        _ => false,
    }
}

fn tape(records: &[Loose]) -> String {
    let (mut encoder, mut tape) = (Encoder::at(Position::START), Vec::new());
    for (dispatch, entry) in records {
        encoder.push(*dispatch, entry, &mut tape);
    }
    String::from_utf8(tape).unwrap()
}

proptest! {
    #[test]
    fn the_quick_way_reads_what_serde_reads(records in vec(loose(), 1..8)) {
        for line in tape(&records).lines() {
            let (quick, whole) = both_ways(line);
            let whole = whole.unwrap();
            if is_plain(&whole.2.entry) {
                prop_assert!(quick.is_some(), "{}", line);
            }
            if let Some(quick) = quick {
                prop_assert_eq!(quick, whole);
            }
        }
    }

    #[test]
    fn the_quick_way_takes_nothing_that_serde_refuses(
        record in loose(),
        place in any::<prop::sample::Index>(),
        other in any::<prop::sample::Index>(),
        change in 0..4,
        byte in prop::sample::select(b"{}[]\",:\\0189-+.eu tfn\n\x01xA".to_vec()),
    ) {
        for line in tape(&[record]).lines() {
            let mut bytes = line.as_bytes().to_vec();
            let (at, other) = (place.index(bytes.len()), other.index(bytes.len()));
            match change {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                2 => drop(bytes.drain(at.min(other)..at.max(other))),
                _ => bytes.swap(at, other),
            }
            let Ok(changed) = std::str::from_utf8(&bytes) else { continue };
            let (quick, whole) = both_ways(changed);
            if quick.is_some() {
                prop_assert_eq!(quick, whole);
            }
        }
    }

    #[test]
    fn records_read_back_as_they_were(header in project(), records in vec(loose(), 0..12)) {
        let mut all = vec![(None, Entry::Header(header))];
        all.extend(records);
        let (mut encoder, mut tape) = (Encoder::at(Position::START), Vec::new());
        for (dispatch, entry) in &all {
            encoder.push(*dispatch, entry, &mut tape);
        }
        encoder.footer(&mut tape);
        for line in std::str::from_utf8(&tape).unwrap().lines() {
            let value = serde_json::from_str(line).unwrap();
            prop_assert_eq!(canonical::text(&value), line);
        }
        let mut reader = Reader::new(&tape[..]).unwrap().strict();
        let mut read = Vec::new();
        while let Some(record) = reader.next_record().unwrap() {
            if !matches!(record.entry, Entry::Body(_) | Entry::Footer(_)) {
                read.push((record.dispatch, record.entry));
            }
        }
        prop_assert_eq!(reader.ending(), Some(Ending::Closed));
        prop_assert_eq!(read, all);
    }
}
