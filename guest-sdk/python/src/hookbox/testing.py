"""What a test of a hook needs, outside the sandbox.

``log``, ``metrics`` and ``cache`` are kept in memory there, until :func:`reset`.
"""

from __future__ import annotations

from typing import Any

from hookbox import _effects, _local
from hookbox._effects import Effect
from hookbox._event import Event

__all__ = ["effects", "event", "logs", "reset"]


def event(
    payload: Any,
    name: str = "tool.pre",
    *,
    id: str = "call_1",
    subject: str | None = None,
    hook: str = "test",
    depth: int = 0,
) -> Event:
    """Returns an event to call a hook with."""
    return Event(name, payload, id, subject, hook, depth)


def logs() -> list[tuple[str, str]]:
    """Returns the log lines so far, as pairs of level and message."""
    return list(_local.log.lines)


def effects() -> list[Effect]:
    """Returns the contexts and reminders so far, in order."""
    return list(_effects.queue)


def reset() -> None:
    """Forgets log lines, metrics, effects and what is in the cache."""
    _effects.queue.clear()
    _local.reset()
