"""What goes wrong at the border, as one exception with a kind."""

from __future__ import annotations


class HookboxError(Exception):
    """The host refused or could not do what the hook asked for.

    ``kind`` is the name of the case in the contract, for programs:
    ``not-granted``, ``quota``, ``wrong-type``, ``unavailable``,
    ``invalid-request``, ``timeout``, ``too-large``, ``failed``, ``blocked``,
    ``refused``, ``unknown-tool`` or ``not-found``. ``message`` is for people.
    """

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(f"{kind}: {message}")
        self.kind = kind
        self.message = message


def from_case(case: object) -> HookboxError:
    """Returns the exception for a case of the contract's error variants.

    The bindings name its class after the case: ``Error_NotGranted``.
    """
    words = type(case).__name__.removeprefix("Error_")
    kind = "".join(f"-{c.lower()}" if c.isupper() else c for c in words)
    return HookboxError(kind.lstrip("-"), getattr(case, "value", ""))
