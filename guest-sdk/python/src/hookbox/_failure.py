"""What the host is told about an exception.

The standard ``traceback`` module would do, but it adds a megabyte of modules to
every component, and needs files to show lines of source.
"""

from __future__ import annotations

from types import TracebackType

_MOST_FRAMES = 30
_MOST_CAUSES = 5


class NoDecisionError(Exception):
    """The hook returned something else than a decision."""


_sources: dict[str, list[str]] = {}


def remember(file: str) -> None:
    """Keeps a file's lines, for there are no files when a hook runs."""
    with open(file, encoding="utf-8") as source:
        _sources[file] = source.read().splitlines()


def message(error: BaseException) -> str:
    """Returns the exception's type and text."""
    name = type(error).__name__
    try:
        said = str(error)
    except Exception:
        said = "its text could not be read"
    if isinstance(error, NoDecisionError):
        return said
    if isinstance(error, ModuleNotFoundError):
        said += (
            f"; modules are loaded when the hook is built, so write"
            f" `import {error.name}` at the top of hook.py"
        )
    return f"{name}: {said}" if said else name


def stack(error: BaseException) -> str | None:
    """Returns the trace, with the exceptions that led to this one first."""
    if isinstance(error, NoDecisionError):
        return None
    chain: list[str] = []
    current: BaseException | None = error
    link = ""
    while current is not None and len(chain) < _MOST_CAUSES:
        chain.append(_trace(current) + link)
        if current.__cause__ is not None:
            link = "\n\nThis caused:\n\n"
            current = current.__cause__
        else:
            link = "\n\nWhile this was handled, another exception came up:\n\n"
            current = None if current.__suppress_context__ else current.__context__
    return "".join(reversed(chain))


def _trace(error: BaseException) -> str:
    frames = _frames(error.__traceback__)
    lines = ["Traceback (most recent call last):"]
    if len(frames) > _MOST_FRAMES:
        lines.append(f"  ({len(frames) - _MOST_FRAMES} calls left out)")
    lines += frames[-_MOST_FRAMES:]
    lines.append(message(error))
    return "\n".join(lines)


def _frames(trace: TracebackType | None) -> list[str]:
    frames = []
    while trace is not None:
        code = trace.tb_frame.f_code
        # What the SDK does around the hook says nothing about the hook.
        if not code.co_filename.endswith("hookbox/_entry.py"):
            line = trace.tb_lineno
            shown = f'  File "{_shown(code.co_filename)}", line {line}'
            source = _sources.get(code.co_filename, ())
            shown += f", in {code.co_name}"
            if line is not None and 0 < line <= len(source):
                shown += f"\n    {source[line - 1].strip()}"
            frames.append(shown)
        trace = trace.tb_next
    return frames


def _shown(file: str) -> str:
    """Returns a path as the author knows it.

    While a component is built, the folders of the path are mounted as ``/0``,
    ``/1`` and so on, and the standard library as ``/python``.
    """
    parts = file.split("/", 2)
    return parts[2] if len(parts) == 3 and not parts[0] else file
