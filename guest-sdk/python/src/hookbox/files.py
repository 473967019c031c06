"""Files below granted directories. Nothing can be written.

Paths start at the project, as they do in the grant. Errors are
:class:`HookboxError` of the kind ``not-granted``, ``not-found``, ``too-large`` or
``failed``.
"""

from __future__ import annotations

import builtins

from hookbox import _host
from hookbox._border import text

_files = _host.interface("files")


def read(path: str) -> bytes:
    """Returns what a file holds."""
    return bytes(_host.call(_files.read, text(path, "a path")))


def read_text(path: str, encoding: str = "utf-8") -> str:
    """Returns the text a file holds."""
    return read(path).decode(encoding)


def list(path: str) -> builtins.list[str]:
    """Returns the names in a directory, sorted; those of directories end in ``/``."""
    return builtins.list(_host.call(_files.entries, text(path, "a path")))
