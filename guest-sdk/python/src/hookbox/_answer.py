"""Turns what a hook decided into the words of the bindings."""

from __future__ import annotations

from typing import Any

from wit_world.imports import types as wit

from hookbox import _effects, _json
from hookbox._decision import Allow, Ask, Block, Modify
from hookbox._effects import Context, Effect
from hookbox._failure import NoDecisionError

_ALLOW = wit.Decision_Allow()


def answer(decision: object) -> wit.Answer:
    """Returns the answer to the host: a decision, and what was queued before it."""
    effects = [_effect(effect) for effect in _effects.queue]
    return wit.Answer(_decision(decision), effects)


def _decision(decision: Any) -> Any:
    kind = type(decision)
    if kind is Allow:
        return _ALLOW
    if kind is Block:
        return wit.Decision_Block(decision.reason)
    if kind is Modify:
        return wit.Decision_Modify(_json.dumps(decision.payload, "the new payload"))
    if kind is Ask:
        return wit.Decision_Ask(decision.message)
    instead = "" if decision is None else f" but a value of the type {kind.__name__}"
    raise NoDecisionError(
        f"the hook returned no decision{instead}; return allow(), block(reason),"
        " modify(payload) or ask(message)"
    )


def _effect(effect: Effect) -> Any:
    if isinstance(effect, Context):
        placement = _case(wit.Placement, effect.placement)
        return wit.Effect_Context(wit.Context(effect.text, placement))
    return wit.Effect_Reminder(
        wit.Reminder(
            effect.body,
            list(effect.tags),
            effect.dedupe_key,
            effect.ttl_turns,
            effect.preserve_on_compact,
            _case(wit.Propagation, effect.propagate),
            _case(wit.RoleHint, effect.role_hint),
        )
    )


def _case(enum: Any, name: str) -> Any:
    return enum[name.upper().replace("-", "_")]
