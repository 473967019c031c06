"""The time: the event's own, or with ``grant: { clock: real }`` the machine's."""

from __future__ import annotations

from hookbox import _host

_clock = _host.interface("clock")


def now() -> int:
    """Returns the milliseconds since the start of 1970."""
    return int(_clock.now())
