"""A store of JSON values that outlives the call.

Without a grant it is the hook's own and ends with the run.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any

from hookbox import _host, _json
from hookbox._border import integer, milliseconds, text

if TYPE_CHECKING:
    from hookbox._border import Duration

_cache = _host.interface("cache")


class Absent(Enum):
    """The type of :data:`ABSENT`."""

    ABSENT = "absent"


ABSENT = Absent.ABSENT
"""What :func:`compare_and_set` expects where there should be no value."""


def get(key: str) -> Any:
    """Returns a value; None if there is none. :func:`has` tells it from null."""
    found = _host.call(_cache.get, text(key, "a key"))
    return None if found is None else _json.loads(found)


def set(key: str, value: object, ttl: Duration | None = None) -> None:
    """Stores a value, for some seconds if ``ttl`` is given."""
    written = _json.dumps(value, "the value for the cache")
    _host.call(_cache.set, text(key, "a key"), written, milliseconds(ttl, "ttl"))


def has(key: str) -> bool:
    """Says whether there is a value."""
    return bool(_host.call(_cache.has, text(key, "a key")))


def delete(key: str) -> bool:
    """Removes a value and says whether there was one."""
    return bool(_host.call(_cache.delete, text(key, "a key")))


def increment(key: str, by: int = 1, ttl: Duration | None = None) -> int:
    """Adds to an integer, which starts at 0, in one step, and returns the sum.

    The time counts from the first addition; later ones do not extend it.
    """
    delta = integer(by, "what is added")
    time = milliseconds(ttl, "ttl")
    return int(_host.call(_cache.increment, text(key, "a key"), delta, time))


def compare_and_set(
    key: str, expected: object, value: object, ttl: Duration | None = None
) -> bool:
    """Stores ``value`` in one step if the stored value is ``expected``.

    Says whether it did. :data:`ABSENT` expects that there is no value.
    """
    before = None
    if expected is not ABSENT:
        before = _json.dumps(expected, "the expected value")
    written = _json.dumps(value, "the value for the cache")
    time = milliseconds(ttl, "ttl")
    key = text(key, "a key")
    return bool(_host.call(_cache.compare_and_set, key, before, written, time))
