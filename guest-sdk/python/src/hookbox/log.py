"""Log lines, stored with the hook's name."""

from __future__ import annotations

from hookbox import _host
from hookbox._border import text

_log = _host.interface("log")
_Level = _log.Level


def debug(message: str) -> None:
    """Writes what helps to find a mistake."""
    _log.write(_Level.DEBUG, text(message, "a log message"))


def info(message: str) -> None:
    """Writes what is good to know."""
    _log.write(_Level.INFO, text(message, "a log message"))


def warn(message: str) -> None:
    """Writes what somebody should look at."""
    _log.write(_Level.WARN, text(message, "a log message"))


def error(message: str) -> None:
    """Writes what went wrong."""
    _log.write(_Level.ERROR, text(message, "a log message"))
