"""The hooks of the project, for hooks that watch over hooks."""

from __future__ import annotations

import builtins
from dataclasses import dataclass

from hookbox import _host
from hookbox._border import text

_hooks = _host.interface("hooks")


@dataclass(frozen=True)
class Hook:
    """What the project says about one hook."""

    name: str
    event: str
    priority: int
    #: Whether the priority was written down or is the default.
    explicit_priority: bool
    when: str | None
    #: What runs: ``starlark``, ``component`` or ``none``.
    handler: str
    #: The file it is written in, relative to the project.
    file: str


def list() -> builtins.list[Hook]:
    """Returns all hooks, in the order of registration."""
    return [
        Hook(
            raw.name,
            raw.event,
            raw.priority,
            raw.explicit_priority,
            raw.when,
            raw.handler,
            raw.file,
        )
        for raw in _host.call(_hooks.all)
    ]


def source(name: str) -> str | None:
    """Returns the text of a hook's file; None if there is no hook of this name."""
    found: str | None = _host.call(_hooks.source, text(name, "a hook's name"))
    return found
