"""Finds the hook of the project that is being built."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any

from hookbox import _failure, _hook, _host

_HIDDEN = {
    # What Python imports only when it meets an integer of thousands of digits.
    "hookbox": "_pylong",
    "datetime": "_strptime",
}
"""What modules import only when they are used, when there are no files any more."""


def load() -> Callable[..., Any]:
    """Imports ``hook.py`` and returns the function that is marked with ``@hook``."""
    # The contract allows integers of any length, and fuel ends what takes too long.
    sys.set_int_max_str_digits(0)
    before = set(sys.modules)
    try:
        import hook  # noqa: F401
    except ModuleNotFoundError as error:
        if error.name != "hook":
            raise
        raise ImportError("there is no hook.py at the root of the project") from None
    for name in set(sys.modules) - before:
        _remember(name)
    for name, hidden in _HIDDEN.items():
        if name in sys.modules:
            importlib.import_module(hidden)
    # So that `import hookbox` is enough for `hookbox.http`.
    for name in filter(_host.is_there, _host.GRANTS):
        importlib.import_module(f"hookbox.{name}")
    if not _hook.registered:
        raise ImportError("no function in hook.py is marked with @hook")
    function, *others = _hook.registered
    if others:
        raise ImportError(
            f"{function.__name__} and {others[0].__name__} are both marked with @hook;"
            " a component is one hook, so move one of them to another project"
        )
    return function


def _remember(name: str) -> None:
    """Keeps the source of the author's own modules, for traces."""
    file = getattr(sys.modules[name], "__file__", None) or ""
    if file.endswith(".py") and not file.startswith("/python/"):
        _failure.remember(file)
