"""Does what `payload.args.do` says, so that all languages can be held to the same."""

from __future__ import annotations

from typing import Any

from hookbox import Decision, Event, HookboxError, allow, hook, modify

import modes


@hook
def conformance(event: Event) -> Decision:
    payload = event.payload
    args = payload.get("args") if isinstance(payload, dict) else None
    if not isinstance(args, dict) or "do" not in args:
        return allow()
    mode = args["do"]
    if mode in modes.DECISIONS:
        decision: Decision = modes.DECISIONS[mode](event, args)
        return decision
    if mode in modes.NOTES:
        return modify({"note": attempt(modes.NOTES[mode], event, args)})
    raise ValueError(f"unknown mode: {mode}")


def attempt(mode: modes.Mode, event: Event, args: dict[str, Any]) -> Any:
    """Returns what a mode notes, or the kind of the error it meets."""
    try:
        return mode(event, args)
    except HookboxError as error:
        return {"error": error.kind}
