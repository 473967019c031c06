"""What a hook rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hookbox._border import text


@dataclass
class Allow:
    """Let it pass, unchanged."""


@dataclass
class Block:
    """Refuse it. The agent reads the reason; later hooks do not run."""

    reason: str


@dataclass
class Modify:
    """Let it pass with another payload."""

    payload: Any


@dataclass
class Ask:
    """Let a person decide."""

    message: str


Decision = Allow | Block | Modify | Ask
"""What a hook returns."""

_ALLOW = Allow()


def allow() -> Allow:
    """Lets it pass, unchanged."""
    return _ALLOW


def block(reason: str) -> Block:
    """Refuses it. The agent reads the reason; later hooks do not run."""
    return Block(text(reason, "the reason"))


def modify(payload: object) -> Modify:
    """Lets it pass with another payload.

    A dict is laid over the current payload key by key, so it need only hold what
    changes.
    """
    return Modify(payload)


def ask(message: str) -> Ask:
    """Lets a person decide. The message is the question."""
    return Ask(text(message, "the message"))
