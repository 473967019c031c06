"""Runs the SDK a few times when a hook is built.

Python specialises code and fills caches when it first runs. That is better done once
than in every call. The author's own function is not run: what it would leave behind in
its module would be there in every call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import componentize_py_runtime as runtime
from componentize_py_types import Err, Ok
from wit_world.imports import types as wit
from wit_world.imports.metrics import Number_Integer

from hookbox import allow, block, cache, context, log, metrics, modify, reminder
from hookbox._decision import Decision
from hookbox._event import Event

_ROUNDS = 20

_PAYLOAD = (
    '{"id":"call_1","name":"run_command","args":{"command":"ls","n":[1,2.5,null,true]},'
    '"arguments":"{\\"command\\":\\"ls\\",\\"n\\":[1,2.5,null,true]}"}'
)


class _Pretend:
    """Answers in place of the host, which is not there yet."""

    def __init__(self) -> None:
        self.answer: object = None

    def __call__(self, index: int, params: list[Any]) -> object:
        return self.answer


def warm_up(handle: Callable[..., Any]) -> None:
    """Runs through what most hooks use."""
    host = runtime.call_import
    runtime.call_import = pretend = _Pretend()

    def decide(event: Event) -> Decision:
        command = event.payload["args"].get("command", "")
        pretend.answer = None
        log.warn(f"blocked: {command}")
        pretend.answer = Number_Integer(1)
        metrics.incr("hookbox.warm-up")
        return block(f"{event.name} {event.id} {event.subject}: é")

    def change(event: Event) -> Decision:
        pretend.answer = Ok(None)
        cache.set("key", event.payload)
        pretend.answer = Ok("1")
        cache.get("key")
        context("text")
        reminder("text")
        return modify({"args": event.payload["args"]})

    def fail(event: Event) -> Decision:
        raise ValueError(event.id)

    event = wit.Event("tool.pre", _PAYLOAD, "call_1", "run_command", "hook", 0)
    try:
        for _ in range(_ROUNDS):
            for hook in (decide, change, lambda _: allow(), fail):
                try:
                    handle(event, hook)
                except Err:
                    pass
    finally:
        runtime.call_import = host
