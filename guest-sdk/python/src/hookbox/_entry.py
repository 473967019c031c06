"""The module componentize-py makes a component of.

It is imported once, when a hook is built. What is in memory after ``Handler()`` was
called is what every call starts from.
"""

from __future__ import annotations

from collections.abc import Callable

from componentize_py_types import Err
from wit_world.imports import types as wit

from hookbox import _failure, _json, _seal
from hookbox._answer import answer
from hookbox._event import Event
from hookbox._project import load

_hook = load()


def _handle(raw: wit.Event, hook: Callable[..., object] = _hook) -> wit.Answer:
    try:
        payload = _json.loads(raw.payload)
        event = Event(raw.name, payload, raw.id, raw.subject, raw.hook, raw.depth)
        return answer(hook(event))
    # Whatever leaves the hook, SystemExit too, says that it did not decide.
    except BaseException as error:
        raise Err(_failed(error)) from None


def _failed(error: BaseException) -> wit.Failure:
    try:
        return wit.Failure(_failure.message(error), _failure.stack(error))
    except MemoryError:
        return wit.Failure(type(error).__name__, None)


class Handler:
    """What the bindings call."""

    def __init__(self) -> None:
        _seal.seal(_handle)

    def handle(self, event: wit.Event) -> wit.Answer:
        """Decides about one event."""
        return _handle(event)
