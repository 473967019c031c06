"""Events of the hook's own making."""

from __future__ import annotations

from typing import Any

from hookbox import _host, _json
from hookbox._border import text

_events = _host.interface("events")


def emit(name: str, payload: object) -> Any:
    """Sends a ``custom.*`` event through its own chain.

    Returns the payload that comes out. Raises :class:`HookboxError` of the kind
    ``blocked`` or ``refused``.
    """
    written = _json.dumps(payload, "the event's payload")
    return _json.loads(_host.call(_events.emit, text(name, "an event's name"), written))
