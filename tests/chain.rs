//! The chain against a second, naive statement of its rules.

use std::sync::Arc;

use hookbox::chain::{self, Ran, Runner};
use hookbox::decision::{Answer, Decision, Effect, Placement, Ruling};
use hookbox::dialect::harness::DIALECT;
use hookbox::event::Event;
use hookbox::failure::{Cause, Failure};
use hookbox::handler::Handler;
use hookbox::hook::{Hook, OnError, Origin, Predicate};
use hookbox::json::Json;
use hookbox::sandbox::limits::Limits;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// What a made-up hook does, independent of what it sees.
#[derive(Debug, Clone)]
struct Plan {
    here: bool,
    priority: i64,
    when: When,
    deed: Deed,
    closed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum When {
    Yes,
    No,
    Raises,
    Exhausted,
    /// Matches if the payload it is shown has no key `k1`.
    UntilK1,
}

#[derive(Debug, Clone)]
enum Deed {
    Allow,
    Remind(u8),
    Block(u8),
    Ask(u8),
    Put(u8, u8),
    Fail,
}

struct Table(Vec<Plan>);

impl Table {
    fn plan(&self, hook: &Hook) -> &Plan {
        &self.0[hook.position]
    }
}

impl Runner for Table {
    fn matches(&self, hook: &Hook, event: &Event) -> Ran<bool> {
        match self.plan(hook).when {
            When::Yes => Ok(true),
            When::No => Ok(false),
            When::Raises => Err(Failure::new(Cause::HookError, "raised")),
            When::Exhausted => Err(Failure::new(Cause::OutOfFuel, "exhausted")),
            When::UntilK1 => Ok(event.payload.value().get("k1").is_none()),
        }
        .into()
    }

    fn handle(&self, hook: &Hook, _event: &Event) -> Ran<Answer> {
        match &self.plan(hook).deed {
            Deed::Allow => Ok(Decision::Allow.into()),
            Deed::Remind(n) => Ok(Answer {
                effects: vec![effect(*n)],
                ..Decision::Allow.into()
            }),
            Deed::Block(n) => Ok(Decision::Block(format!("b{n}")).into()),
            Deed::Ask(n) => Ok(Decision::Ask(format!("a{n}")).into()),
            Deed::Put(k, v) => Ok(Decision::Modify(json!({ format!("k{k}"): v })).into()),
            Deed::Fail => Err(Failure::new(Cause::Trap, "failed")),
        }
        .into()
    }
}

fn effect(n: u8) -> Effect {
    Effect::Context {
        text: n.to_string(),
        placement: Placement::SystemReminder,
    }
}

/// What the rules say, written down once more: no steps, no types, just the text
/// of the rules.
#[derive(Debug, PartialEq)]
struct Expected {
    decision: Ruling,
    reason: Option<String>,
    payload: Value,
    called: Vec<String>,
    texts: Vec<String>,
    warnings: usize,
}

fn naive(plans: &[Plan]) -> Expected {
    let mut warnings = 0;
    let mut alive = Vec::new();
    for (index, plan) in plans.iter().enumerate().filter(|(_, plan)| plan.here) {
        match plan.when {
            // The payload every predicate sees is the first one, which has no keys.
            When::Yes | When::UntilK1 => alive.push((plan.priority, index, false)),
            When::Exhausted => alive.push((plan.priority, index, true)),
            When::Raises => warnings += 1,
            When::No => {}
        }
    }
    alive.sort_unstable();
    let mut payload = Map::new();
    let (mut called, mut texts) = (Vec::new(), Vec::new());
    let mut modified = false;
    let mut end = None;
    for (_, index, exhausted) in alive {
        let plan = &plans[index];
        if !exhausted {
            called.push(format!("h{index}"));
        }
        let cause = if exhausted {
            "out of fuel: exhausted"
        } else {
            "trap: failed"
        };
        match &plan.deed {
            _ if exhausted && plan.closed => {
                end = Some((Ruling::Block, format!("hook \"h{index}\" failed: {cause}")));
            }
            _ if exhausted => warnings += 1,
            Deed::Allow => {}
            Deed::Remind(n) => texts.push(n.to_string()),
            Deed::Put(k, v) => {
                modified = true;
                payload.insert(format!("k{k}"), json!(v));
            }
            Deed::Block(n) => end = Some((Ruling::Block, format!("b{n}"))),
            Deed::Ask(n) => end = Some((Ruling::Ask, format!("a{n}"))),
            Deed::Fail if plan.closed => {
                end = Some((Ruling::Block, format!("hook \"h{index}\" failed: {cause}")));
            }
            Deed::Fail => warnings += 1,
        }
        if end.is_some() {
            break;
        }
    }
    let through = if modified {
        Ruling::Modify
    } else {
        Ruling::Allow
    };
    Expected {
        decision: end.as_ref().map_or(through, |(ruling, _)| *ruling),
        reason: end.map(|(_, reason)| reason),
        payload: Value::Object(payload),
        called,
        texts,
        warnings,
    }
}

fn hooks(plans: &[Plan]) -> Vec<Arc<Hook>> {
    let hook = |(position, plan): (usize, &Plan)| {
        Arc::new(Hook {
            name: format!("h{position}").into(),
            event: if plan.here {
                "custom.here"
            } else {
                "custom.elsewhere"
            }
            .into(),
            point: if plan.here {
                "custom.here"
            } else {
                "custom.elsewhere"
            }
            .into(),
            order: 0,
            waits: true,
            live: false,
            collects: false,
            priority: plan.priority,
            position,
            predicate: Predicate::Always,
            handler: Handler::Placeholder,
            limits: Limits::default(),
            grants: hookbox::capability::grant::Grants::default(),
            on_error: if plan.closed {
                OnError::Block
            } else {
                OnError::Allow
            },
            dialect: &DIALECT,
            origin: Origin {
                file: "x.md".into(),
                summary: None,
                explicit_priority: true,
                source: hookbox::diagnostic::Source::new("x.md", ""),
                own_file: true,
            },
        })
    };
    plans.iter().enumerate().map(hook).collect()
}

fn event() -> Event {
    Event::native("custom.here", "event-1", Json::from(json!({})))
}

fn any_plan() -> impl Strategy<Value = Plan> {
    let when = prop_oneof![
        6 => Just(When::Yes),
        1 => Just(When::No),
        1 => Just(When::Raises),
        1 => Just(When::Exhausted),
        2 => Just(When::UntilK1),
    ];
    let deed = prop_oneof![
        4 => Just(Deed::Allow),
        2 => any::<u8>().prop_map(Deed::Remind),
        1 => any::<u8>().prop_map(Deed::Block),
        1 => any::<u8>().prop_map(Deed::Ask),
        4 => (0..3u8, any::<u8>()).prop_map(|(k, v)| Deed::Put(k, v)),
        1 => Just(Deed::Fail),
    ];
    (
        prop::bool::weighted(0.8),
        -3..4i64,
        when,
        deed,
        any::<bool>(),
    )
        .prop_map(|(here, priority, when, deed, closed)| Plan {
            here,
            priority,
            when,
            deed,
            closed,
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn ah_065_ah_066_the_chain_agrees_with_the_naive_rules(
        plans in prop::collection::vec(any_plan(), 0..12),
        shuffle in any::<u64>(),
    ) {
        let mut hooks = hooks(&plans);
        let expected = naive(&plans);
        // Whatever order the hooks are found in, the answer is the same.
        let turn = usize::try_from(shuffle % 13).unwrap().min(hooks.len());
        hooks.rotate_left(turn);
        let outcome = chain::run(&hooks, &event(), &Table(plans));
        let texts = outcome.effects.iter().map(|effect| match effect {
            Effect::Context { text, .. } => text.clone(),
            Effect::Reminder(reminder) => reminder.body.clone(),
        });
        prop_assert_eq!(expected, Expected {
            decision: outcome.decision,
            reason: outcome.reason.clone(),
            payload: outcome.payload.value().clone(),
            called: outcome.stages.dispatch.iter().map(ToString::to_string).collect(),
            texts: texts.collect(),
            warnings: outcome.warnings.len(),
        });
        prop_assert_eq!(outcome.stages.r#return, Some(outcome.decision));
    }

    #[test]
    fn ah_061_ah_064_nothing_runs_after_a_block(plans in prop::collection::vec(any_plan(), 0..12)) {
        let outcome = chain::run(&hooks(&plans), &event(), &Table(plans.clone()));
        let settled = outcome.trace.iter().position(|row| {
            matches!(row.decision, Some(Ruling::Block | Ruling::Ask))
        });
        if let Some(settled) = settled {
            prop_assert!(outcome.trace[settled + 1..].iter().all(|row| row.decision.is_none()));
            prop_assert_eq!(Some(outcome.decision), outcome.trace[settled].decision);
        }
    }
}

#[test]
fn ah_071_no_hooks_allow_with_the_payload_unchanged() {
    let outcome = chain::run(&[], &event(), &Table(Vec::new()));
    assert_eq!(outcome.decision, Ruling::Allow);
    assert_eq!(outcome.payload, event().payload);
}
