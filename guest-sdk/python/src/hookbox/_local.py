"""Stand-ins for the host, so that a hook can be tested with plain pytest.

They have the functions of the bindings that componentize-py generates.
"""

from __future__ import annotations

import json
import random as _random
from collections.abc import Callable
from enum import Enum
from typing import NamedTuple, NoReturn

from hookbox._errors import HookboxError

YEAR_2000 = 946_684_800_000
"""What the clock says without a grant, in milliseconds."""


class Number(NamedTuple):
    """The value of a metric."""

    value: int | float


class Log:
    """Keeps log lines."""

    Level = Enum("Level", ["DEBUG", "INFO", "WARN", "ERROR"])

    def __init__(self) -> None:
        self.lines: list[tuple[str, str]] = []

    def write(self, level: Enum, message: str) -> None:
        self.lines.append((level.name.lower(), message))


class Metrics:
    """Keeps counters and gauges."""

    Number_Integer = Number_Real = Number

    def __init__(self) -> None:
        self.values: dict[str, Number] = {}

    def incr(self, name: str, delta: int) -> Number:
        number = Number(self.values.get(name, Number(0)).value + delta)
        self.values[name] = number
        return number

    def set(self, name: str, value: Number) -> None:
        self.values[name] = value

    def get(self, name: str) -> Number | None:
        return self.values.get(name)

    def snapshot(self) -> list[tuple[str, Number]]:
        return sorted(self.values.items())


class Cache:
    """Keeps JSON texts by their keys; nothing expires."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}

    def get(self, key: str) -> str | None:
        return self.texts.get(key)

    def set(self, key: str, value: str, ttl_ms: int | None) -> None:
        self.texts[key] = value

    def has(self, key: str) -> bool:
        return key in self.texts

    def delete(self, key: str) -> bool:
        return self.texts.pop(key, None) is not None

    def increment(self, key: str, delta: int, ttl_ms: int | None) -> int:
        before = json.loads(self.texts.get(key, "0"))
        if not isinstance(before, int):
            raise HookboxError("wrong-type", f"{key} does not hold an integer")
        self.texts[key] = str(before + delta)
        return before + delta

    def compare_and_set(
        self, key: str, expected: str | None, value: str, ttl_ms: int | None
    ) -> bool:
        if self.texts.get(key) != expected:
            return False
        self.texts[key] = value
        return True


class Clock:
    """Stands still, as it does without a grant."""

    def now(self) -> int:
        return YEAR_2000


class Random:
    """Gives the same bytes in every process."""

    def __init__(self) -> None:
        self.source = _random.Random(0)

    def bytes(self, count: int) -> bytes:
        return self.source.randbytes(count)


class Unavailable:
    """An interface that only the host has."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __getattr__(self, function: str) -> Callable[..., NoReturn]:
        def refuse(*_: object) -> NoReturn:
            raise HookboxError(
                "unavailable",
                f"{self.name} is there only inside hookbox; in a test,"
                " put a function of your own in its place",
            )

        return refuse


log = Log()
metrics = Metrics()
cache = Cache()
clock = Clock()
random = Random()
events = Unavailable("events")
http = Unavailable("http")
tools = Unavailable("tools")
env = Unavailable("env")
files = Unavailable("files")
hooks = Unavailable("hooks")


def reset() -> None:
    """Forgets everything."""
    log.lines.clear()
    metrics.values.clear()
    cache.texts.clear()
    random.source.seed(0)
