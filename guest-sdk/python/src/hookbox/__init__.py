"""Write hooks for AI agents in Python, and run them in hookbox's sandbox.

    from hookbox import allow, block, hook

    @hook
    def guard(event):
        if "rm -rf /" in event.payload["args"].get("command", ""):
            return block("that would delete everything")
        return allow()

``log``, ``metrics``, ``cache``, ``events``, ``clock`` and ``random`` are always
there. ``http``, ``tools``, ``env``, ``files`` and ``hooks`` need a grant in the
hook file.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from hookbox import _host, cache, clock, events, log, metrics, random
from hookbox._decision import (
    Allow,
    Ask,
    Block,
    Decision,
    Modify,
    allow,
    ask,
    block,
    modify,
)
from hookbox._effects import context, reminder
from hookbox._errors import HookboxError
from hookbox._event import Event
from hookbox._hook import hook

__all__ = [
    "Allow",
    "Ask",
    "Block",
    "Decision",
    "Event",
    "HookboxError",
    "Modify",
    "allow",
    "ask",
    "block",
    "cache",
    "clock",
    "context",
    "events",
    "hook",
    "log",
    "metrics",
    "modify",
    "random",
    "reminder",
]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """Returns a module that needs a grant, or says which one is missing."""
        if name not in _host.GRANTS:
            raise AttributeError(f"module 'hookbox' has no attribute {name!r}")
        _host.interface(name)
        return importlib.import_module(f"hookbox.{name}")
