"""What a hook wants beside its decision: texts for the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from hookbox._border import text as checked

Placement = Literal[
    "system-reminder", "system-message", "prepend-to-prompt", "append-to-output"
]
"""Where a text for the model is put."""

Propagation = Literal["all", "session", "none"]
"""How far a reminder travels."""

RoleHint = Literal["system", "developer", "user-block", "ephemeral-cache"]
"""In whose voice a reminder is spoken."""

_PLACEMENTS = get_args(Placement)
_PROPAGATIONS = get_args(Propagation)
_ROLE_HINTS = get_args(RoleHint)
_U32 = range(2**32)


@dataclass(frozen=True)
class Context:
    """A text for the model."""

    text: str
    placement: str


@dataclass(frozen=True)
class Reminder:
    """A text for the model that stays for some turns."""

    body: str
    tags: tuple[str, ...]
    dedupe_key: str | None
    ttl_turns: int | None
    preserve_on_compact: bool
    propagate: str
    role_hint: str


Effect = Context | Reminder
"""What goes out with the answer."""

queue: list[Effect] = []


def context(text: str, placement: Placement = "system-reminder") -> None:
    """Gives the model a text, together with the answer."""
    known = _one_of(placement, _PLACEMENTS, "placement")
    queue.append(Context(checked(text, "the context"), known))


def reminder(
    body: str,
    *,
    tags: Sequence[str] = (),
    dedupe_key: str | None = None,
    ttl_turns: int | None = None,
    preserve_on_compact: bool = False,
    propagate: Propagation = "session",
    role_hint: RoleHint = "system",
) -> None:
    """Gives the model a text that stays for some turns, or until the end.

    A newer reminder with the same ``dedupe_key`` takes the older one's place.
    """
    if isinstance(tags, str):
        raise TypeError("tags must be a list of str, not one str")
    if ttl_turns is not None and ttl_turns not in _U32:
        raise ValueError("ttl_turns must be 0 or more, and fit 32 bits")
    queue.append(
        Reminder(
            checked(body, "the reminder"),
            tuple(checked(tag, "a tag") for tag in tags),
            None if dedupe_key is None else checked(dedupe_key, "dedupe_key"),
            ttl_turns,
            bool(preserve_on_compact),
            _one_of(propagate, _PROPAGATIONS, "propagate"),
            _one_of(role_hint, _ROLE_HINTS, "role_hint"),
        )
    )


def _one_of(value: str, known: tuple[str, ...], what: str) -> str:
    if value not in known:
        raise ValueError(f"{what} must be one of {', '.join(known)}, not {value!r}")
    return value
