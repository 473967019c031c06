"""What the host is told about an exception."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from hookbox import _failure


class _MuteError(Exception):
    def __str__(self) -> str:
        raise RuntimeError


def caught(function: Callable[[], object]) -> BaseException:
    """Returns what a function raises."""
    try:
        function()
    except BaseException as error:
        return error
    raise AssertionError("nothing was raised")


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ValueError("boom"), "ValueError: boom"),
        (ValueError(), "ValueError"),
        (KeyError("args"), "KeyError: 'args'"),
        (SystemExit(3), "SystemExit: 3"),
        (KeyboardInterrupt(), "KeyboardInterrupt"),
        (_MuteError(), "_MuteError: its text could not be read"),
        (_failure.NoDecisionError("no decision"), "no decision"),
    ],
)
def test_the_message_names_the_type(error: BaseException, message: str) -> None:
    assert _failure.message(error) == message


def test_a_module_that_is_imported_too_late_gets_a_hint() -> None:
    error = ModuleNotFoundError("No module named 'csv'", name="csv")
    assert "`import csv` at the top of hook.py" in _failure.message(error)


def test_the_trace_shows_the_lines(tmp_path: Path) -> None:
    file = tmp_path / "module.py"
    file.write_text("def fail():\n    raise ValueError('boom')\n")
    _failure.remember(str(file))
    names: dict[str, Callable[[], object]] = {}
    exec(compile(file.read_text(), str(file), "exec"), names)
    trace = _failure.stack(caught(names["fail"]))
    assert trace is not None
    assert trace.startswith("Traceback (most recent call last):\n")
    assert "line 2, in fail\n    raise ValueError('boom')\nValueError: boom" in trace


def test_causes_come_first() -> None:
    def wrap() -> None:
        try:
            raise KeyError("inner")
        except KeyError as error:
            raise ValueError("outer") from error

    def hide() -> None:
        try:
            raise KeyError("inner")
        except KeyError:
            raise ValueError("outer") from None

    trace = _failure.stack(caught(wrap))
    assert trace is not None
    assert trace.index("KeyError: 'inner'") < trace.index("This caused:")
    assert trace.endswith("ValueError: outer")
    assert "inner" not in (_failure.stack(caught(hide)) or "")


def test_a_deep_trace_is_cut() -> None:
    def deeper() -> None:
        deeper()

    trace = _failure.stack(caught(deeper))
    assert trace is not None
    assert "calls left out" in trace
    assert trace.count("in deeper") == 30


def test_no_decision_has_no_trace() -> None:
    assert _failure.stack(_failure.NoDecisionError("no decision")) is None


@pytest.mark.parametrize(
    ("file", "shown"),
    [
        ("/0/hook.py", "hook.py"),
        ("/1/package/module.py", "package/module.py"),
        ("/python/json/decoder.py", "json/decoder.py"),
        ("<string>", "<string>"),
    ],
)
def test_paths_are_shown_as_the_author_knows_them(file: str, shown: str) -> None:
    assert _failure._shown(file) == shown
