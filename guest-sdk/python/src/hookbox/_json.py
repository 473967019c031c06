"""JSON as the contract wants it: compact, UTF-8, integers of any size.

``NaN`` and ``Infinity`` are not JSON. Reading a number too large for a float
gives infinity, as Python does it, and writing that is refused.
"""

from __future__ import annotations

import json

from hookbox._border import text

_write = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, separators=(",", ":")
).encode


def dumps(value: object, what: str) -> str:
    """Returns a value as JSON text."""
    try:
        return text(_write(value), what)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{what} cannot be written as JSON: {error}") from None


loads = json.loads
"""Returns what JSON text says as dicts, lists, ints, floats and strings."""
