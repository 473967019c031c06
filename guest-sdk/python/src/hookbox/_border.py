"""Checks what crosses the border.

The bindings trap on a value of the wrong type, which says nothing about where it
came from. Here it becomes an exception with a traceback.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import timedelta

    #: Seconds, or a ``timedelta``.
    Duration = int | float | timedelta

_S64 = range(-(2**63), 2**63)


def text(value: object, what: str) -> str:
    """Returns a text that can be written as UTF-8.

    Half of a surrogate pair cannot; it becomes U+FFFD.
    """
    if not isinstance(value, str):
        raise TypeError(f"{what} must be a str, not {type(value).__name__}")
    if value.isascii():
        return value
    try:
        value.encode()
    except UnicodeEncodeError:
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return value


def integer(value: object, what: str) -> int:
    """Returns an integer that fits 64 bits."""
    if not isinstance(value, int):
        raise TypeError(f"{what} must be an int, not {type(value).__name__}")
    if value not in _S64:
        raise OverflowError(f"{what} must fit 64 bits")
    return int(value)


def milliseconds(value: Duration | None, what: str, bits: int = 64) -> int | None:
    """Returns a duration in whole milliseconds, at least one."""
    if value is None:
        return None
    # Importing datetime only to ask for its type would cost every hook memory.
    seconds = value if isinstance(value, (int, float)) else value.total_seconds()
    if not 0 < seconds * 1000 < 2**bits:
        raise ValueError(f"{what} must be more than 0 seconds, and not for ever")
    return max(1, round(seconds * 1000))
