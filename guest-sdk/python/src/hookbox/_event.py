"""What a hook is asked about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass
class Event:
    """A point in the agent's loop at which the hook is asked."""

    #: The event's name, for example ``tool.pre``.
    name: str
    #: What the event carries, as dicts, lists, strings and numbers.
    payload: Any
    #: Tells this event from every other one of the same run.
    id: str
    #: What the event is about, for example the name of the tool.
    subject: str | None
    #: The name this hook is registered under.
    hook: str
    #: 0 for an event of the agent; one more for each event or tool call of a hook
    #: that it took to get here.
    depth: int
