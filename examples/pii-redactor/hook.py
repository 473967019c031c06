"""Redacts personal data in a tool's result before the model sees it."""

import json

from hookbox import Decision, Event, allow, hook, log, metrics, modify

from redactor import Redactor


@hook
def pii_redactor(event: Event) -> Decision:
    redactor = Redactor()
    changes = {}
    for key in ("result", "content"):
        value = event.payload[key]
        if key == "content" and says_the_same(value, event.payload["result"]):
            continue
        clean = redactor.clean(value)
        if clean != value:
            changes[key] = clean
    if not changes:
        return allow()

    for kind, count in redactor.counts().items():
        metrics.incr(f"pii.{kind}", count)
        log.info(f"redacted {count} {kind} in the result of {event.subject}")
    return modify(changes)


def says_the_same(content: str, result: object) -> bool:
    """Says whether a text is the result itself, or the result as JSON.

    hookbox sees to it that the two agree where the text is JSON. Text of another form
    may hold more than the result, and is cleaned on its own.
    """
    if content == result:
        return True
    try:
        json.loads(content)
    except ValueError:
        return False
    return True
