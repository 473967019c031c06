"""Counters and gauges, shared by all hooks of a run."""

from __future__ import annotations

from typing import Any

from hookbox import _host
from hookbox._border import integer, text

_metrics = _host.interface("metrics")


def incr(name: str, by: int = 1) -> int | float:
    """Adds to a counter, which starts at 0, and returns its new value."""
    delta = integer(by, "what is added to a metric")
    return _value(_metrics.incr(text(name, "a metric's name"), delta))


def set(name: str, value: int | float) -> None:
    """Sets a gauge."""
    number: object
    if isinstance(value, float):
        number = _metrics.Number_Real(value)
    else:
        number = _metrics.Number_Integer(integer(value, "the value of a metric"))
    _metrics.set(text(name, "a metric's name"), number)


def get(name: str) -> int | float | None:
    """Returns one value; None if there is none."""
    number = _metrics.get(text(name, "a metric's name"))
    return None if number is None else _value(number)


def snapshot() -> dict[str, int | float]:
    """Returns all values, sorted by name."""
    return {name: _value(number) for name, number in _metrics.snapshot()}


def _value(number: Any) -> int | float:
    value: int | float = number.value
    return value
