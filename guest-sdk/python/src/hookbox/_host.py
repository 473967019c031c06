"""Finds the host's side of an interface, or a stand-in outside the sandbox."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from hookbox._errors import from_case

SANDBOXED = "componentize_py_runtime" in sys.builtin_module_names
"""Whether this runs inside a component, or while one is being built."""

if TYPE_CHECKING or not SANDBOXED:

    class Err(Exception):  # noqa: N818
        """Stands in for the exception the bindings raise."""

        value: object

else:
    from componentize_py_types import Err

GRANTS = {
    "env": "env: [CI]",
    "files": 'read: ["docs/"]',
    "hooks": "hooks: read",
    "http": 'http: ["GET https://api.example.com/*"]',
    "tools": "tools: [lookup]",
}
"""The modules that need a grant, and what one looks like."""


def is_there(module: str) -> bool:
    """Says whether the component may use a module of the SDK."""
    if not SANDBOXED:
        return True
    try:
        importlib.import_module(_bindings(module))
    except ModuleNotFoundError:
        return False
    return True


def interface(module: str) -> Any:
    """Returns the functions of the host behind a module of the SDK."""
    if not SANDBOXED:
        from hookbox import _local

        return getattr(_local, module)
    if not is_there(module):
        raise ImportError(
            f"hookbox.{module} needs a grant that the hook file does not have; write"
            f" for example `grant: {{ {GRANTS.get(module)} }}` and build again"
        )
    return importlib.import_module(_bindings(module))


def call(function: Callable[..., Any], *args: object) -> Any:
    """Calls a function of the host that may answer with an error."""
    try:
        return function(*args)
    except Err as error:
        raise from_case(error.value) from None


def _bindings(module: str) -> str:
    name = "environment" if module == "env" else module
    return f"wit_world.imports.{name}"
