"""Texts for the model are queued, in order."""

from __future__ import annotations

from typing import Any

import pytest

from hookbox import context, reminder, testing
from hookbox._effects import Context, Reminder


@pytest.fixture(autouse=True)
def _reset() -> None:
    testing.reset()


def test_effects_come_out_in_order_with_their_defaults() -> None:
    context("first")
    reminder("second")
    context("third", "append-to-output")
    assert testing.effects() == [
        Context("first", "system-reminder"),
        Reminder("second", (), None, None, False, "session", "system"),
        Context("third", "append-to-output"),
    ]


def test_a_reminder_takes_all_it_can_have() -> None:
    reminder(
        "text",
        tags=["a", "b"],
        dedupe_key="key",
        ttl_turns=3,
        preserve_on_compact=True,
        propagate="all",
        role_hint="developer",
    )
    assert testing.effects() == [
        Reminder("text", ("a", "b"), "key", 3, True, "all", "developer")
    ]


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"propagate": "some"}, ValueError),
        ({"role_hint": "nobody"}, ValueError),
        ({"ttl_turns": -1}, ValueError),
        ({"ttl_turns": 2**32}, ValueError),
        ({"tags": "one"}, TypeError),
        ({"tags": [1]}, TypeError),
        ({"dedupe_key": 1}, TypeError),
    ],
)
def test_wrong_values_are_refused(wrong: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        reminder("text", **wrong)
    assert testing.effects() == []


def test_a_place_nobody_knows_is_refused() -> None:
    with pytest.raises(ValueError, match="placement must be one of system-reminder"):
        context("text", "nowhere")  # type: ignore[arg-type]
