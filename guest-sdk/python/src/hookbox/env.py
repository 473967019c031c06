"""The environment, as far as it is granted."""

from __future__ import annotations

from hookbox import _host
from hookbox._border import text

_env = _host.interface("env")


def get(name: str) -> str | None:
    """Returns a variable; None if it is granted but not set.

    Raises :class:`HookboxError` of the kind ``not-granted``.
    """
    value: str | None = _host.call(_env.get, text(name, "a variable's name"))
    return value
