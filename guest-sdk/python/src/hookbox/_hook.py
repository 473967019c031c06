"""Remembers which function is the hook."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

_Function = TypeVar("_Function", bound=Callable[..., Any])

registered: list[Callable[..., Any]] = []


def hook(function: _Function) -> _Function:
    """Makes a function the hook of this component.

    It takes an :class:`Event` and returns a decision. It stays an ordinary
    function, so a test can call it.
    """
    registered.append(function)
    return function
