"""A hook can be written and called like any function."""

from __future__ import annotations

import pytest

import hookbox
from hookbox import Allow, Ask, Block, Event, Modify, allow, ask, block, hook, modify
from hookbox import _hook as marked
from hookbox.testing import event


@pytest.fixture(autouse=True)
def _no_hooks() -> None:
    marked.registered.clear()


def test_a_marked_function_stays_a_function() -> None:
    @hook
    def guard(event: Event) -> hookbox.Decision:
        if "rm" in event.payload["args"]["command"]:
            return block("no")
        return allow()

    assert guard(event({"args": {"command": "rm x"}})) == block("no")
    assert guard(event({"args": {"command": "ls"}})) == allow()
    assert marked.registered == [guard]


def test_decisions_say_what_they_are() -> None:
    assert allow() == Allow()
    assert block("why") == Block(reason="why")
    assert modify({"a": 1}) == Modify(payload={"a": 1})
    assert ask("sure?") == Ask(message="sure?")
    same: list[hookbox.Decision] = [block("why"), ask("why")]
    assert same[0] != same[1]


def test_an_event_of_a_test_has_everything() -> None:
    made = event({"name": "x"}, "tool.post", subject="x", depth=2)
    assert made == Event("tool.post", {"name": "x"}, "call_1", "x", "test", 2)


@pytest.mark.parametrize("module", ["env", "files", "hooks", "http", "tools"])
def test_modules_that_need_a_grant_are_found_by_attribute(module: str) -> None:
    assert getattr(hookbox, module).__name__ == f"hookbox.{module}"


def test_there_is_nothing_else() -> None:
    with pytest.raises(AttributeError, match="nonsense"):
        _ = hookbox.nonsense  # type: ignore[attr-defined]
