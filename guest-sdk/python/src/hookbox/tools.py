"""The agent's tools, by name."""

from __future__ import annotations

from typing import Any

from hookbox import _host, _json
from hookbox._border import text

_tools = _host.interface("tools")


def call(name: str, args: object) -> Any:
    """Calls a tool and returns its result.

    The call passes ``tool.pre`` and ``tool.post`` like any call of the model's.
    Raises :class:`HookboxError` of the kind ``not-granted``, ``blocked``,
    ``unknown-tool`` or ``failed``.
    """
    written = _json.dumps(args, "the tool's arguments")
    return _json.loads(_host.call(_tools.call, text(name, "a tool's name"), written))
