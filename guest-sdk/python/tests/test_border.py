"""What the bindings would trap on is an exception instead."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from hookbox import _border


@pytest.mark.parametrize("value", ["", "plain", "é\0😀"])
def test_text_passes(value: str) -> None:
    assert _border.text(value, "it") == value


@pytest.mark.parametrize("value", [None, 5, b"x", ["x"]])
def test_anything_else_is_no_text(value: object) -> None:
    with pytest.raises(TypeError, match="the reason must be a str, not"):
        _border.text(value, "the reason")


def test_integers_fit_64_bits() -> None:
    for value in (-(2**63), 0, 2**63 - 1):
        assert _border.integer(value, "it") == value
    for value in (-(2**63) - 1, 2**63):
        with pytest.raises(OverflowError):
            _border.integer(value, "it")
    with pytest.raises(TypeError):
        _border.integer(1.5, "it")


@pytest.mark.parametrize(
    ("duration", "milliseconds"),
    [
        (None, None),
        (60, 60_000),
        (0.25, 250),
        (0.0001, 1),
        (timedelta(minutes=1), 60_000),
    ],
)
def test_durations_are_seconds(duration: Any, milliseconds: int | None) -> None:
    assert _border.milliseconds(duration, "ttl") == milliseconds


@pytest.mark.parametrize(
    "duration", [0, -1, float("inf"), float("nan"), timedelta(), 10**30]
)
def test_durations_that_make_no_sense_are_refused(duration: Any) -> None:
    with pytest.raises(ValueError, match="ttl"):
        _border.milliseconds(duration, "ttl")
