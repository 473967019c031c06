"""Prepares the memory that every call starts from.

The host copies each page of memory (4 KiB) that a call writes to, so a call is as fast
as it writes to few pages. Counting references writes to every object that is looked
at, and what a call allocates goes into whatever gaps the heap has.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable
from types import CodeType, ModuleType
from typing import Any

from hookbox import _effects, _warm_up

_MARK = b"hookbox immortals:"
"""What stands in front of the list and behind it."""

_GAPS = (65_536, 16_384, 4_096, 2_048, 1_024, *range(1_008, 16, -16))
"""The sizes of gaps to fill, largest first."""

_BYTES_OVERHEAD = sys.getsizeof(b"") + 4
"""What an empty ``bytes`` and the allocator's own note on it take."""

_kept: list[object] = []


def seal(handle: Callable[..., Any]) -> None:
    """Does all that can be done before the first call."""
    _delay_random()
    _warm_up.warm_up(handle)
    _effects.queue.clear()
    # The runtime empties these later, and what it frees must not be on the list.
    os.environ.clear()
    sys.argv.clear()
    gc.collect()
    addresses = _reachable()
    top = max(addresses)
    _kept.append(_listed(addresses))
    del addresses
    gc.collect()
    # A collection during a call shall look only at what the call itself made.
    gc.freeze()
    _fill_gaps(top)


def _reachable() -> set[int]:
    """Returns the addresses of all objects that the modules lead to.

    None of them may go away before the build is done.
    """
    seen: set[int] = set()
    todo: list[Any] = list(sys.modules.values())
    while todo:
        value = todo.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        kind = type(value)
        todo.append(kind)
        todo.extend(gc.get_referents(value))
        if kind is CodeType:
            # The collector does not follow these.
            todo += value.co_consts, value.co_names, value.co_linetable
            todo += value.co_exceptiontable, value.co_filename, value.co_qualname
    return seen


def _listed(addresses: set[int]) -> bytes:
    """Writes down which objects will never go away.

    ``hookbox build`` finds the list and makes these objects immortal: CPython does not
    count references to such.
    """
    words = [address.to_bytes(4, "little") for address in sorted(addresses)]
    return b"".join([_MARK, len(words).to_bytes(4, "little"), *words, _MARK])


def _fill_gaps(top: int) -> None:
    """Fills the gaps of the heap, so that a call allocates behind it, in one row."""
    for size in _GAPS:
        while id(filling := bytes(size - _BYTES_OVERHEAD)) < top:
            _kept.append(filling)
    while id(smallest := object()) < top:
        _kept.append(smallest)
    # Memory a call can have without asking the host for more.
    bytes(1 << 19)


class _DelayedRandom(ModuleType):
    """Stands in for Python's ``random`` until a hook asks for it.

    The runtime seeds it at the start of every call, which takes longer than most hooks
    run. So it gets something to call that does nothing, and the numbers are seeded when
    a hook first asks for one.
    """

    def __init__(self) -> None:
        super().__init__("random")
        import random

        self.__dict__["_real"] = random
        self.__dict__["__spec__"] = random.__spec__

    def __getattr__(self, name: str) -> Any:
        if name == "seed" and not self.__dict__.get("_asked"):
            self.__dict__["_asked"] = True
            return bool
        real = self.__dict__["_real"]
        real.seed()
        self.__dict__.update(real.__dict__)
        return getattr(real, name)


def _delay_random() -> None:
    # Whoever imported it already may hold on to its functions.
    if "random" not in sys.modules:
        sys.modules["random"] = _DelayedRandom()
