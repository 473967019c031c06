"""Random bytes.

They follow from the event and the hook's name, so that a hook decides the same
on every run; with ``grant: { random: real }`` they are the machine's.
"""

from __future__ import annotations

import builtins

from hookbox import _host

_random = _host.interface("random")

_MOST = 65_536


def bytes(count: int) -> builtins.bytes:
    """Returns so many bytes, 65,536 at most."""
    if not 0 <= count <= _MOST:
        raise ValueError(f"random.bytes gives 0 to {_MOST} bytes, not {count}")
    return builtins.bytes(_random.bytes(count))
