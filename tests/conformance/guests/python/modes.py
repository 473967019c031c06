"""What the modes do. A note is what goes into the payload under `note`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hookbox import (
    Decision,
    Event,
    allow,
    ask,
    block,
    cache,
    clock,
    context,
    env,
    events,
    files,
    hooks,
    http,
    log,
    metrics,
    modify,
    random,
    reminder,
    tools,
)

Args = dict[str, Any]
Mode = Callable[[Event, Args], Any]


def contexts(event: Event, args: Args) -> Decision:
    for item in args["contexts"]:
        context(**item)
    return allow()


def remind(event: Event, args: Args) -> Decision:
    reminder(**{name: value for name, value in args.items() if name != "do"})
    return allow()


def effects_block(event: Event, args: Args) -> Decision:
    context("first")
    reminder("second")
    return block("with effects")


def log_all(event: Event, args: Args) -> Decision:
    for write in (log.debug, log.info, log.warn, log.error):
        write(args["text"])
    return allow()


def error(event: Event, args: Args) -> Decision:
    raise ValueError(args["message"])


def panic(event: Event, args: Args) -> Decision:
    raise SystemExit(args["message"])


def nothing(event: Event, args: Args) -> None:
    return None


def loop(event: Event, args: Args) -> Decision:
    while True:
        pass


def memory(event: Event, args: Args) -> Decision:
    kept = []
    while True:
        kept.append(bytearray(1 << 20))


def recursion(event: Event, args: Args) -> Decision:
    def deeper(depth: int) -> int:
        return deeper(depth + 1) + 1

    return block(str(deeper(0)))


DECISIONS: dict[str, Mode] = {
    "allow": lambda event, args: allow(),
    "block": lambda event, args: block(args["reason"]),
    "ask": lambda event, args: ask(args["message"]),
    "echo": lambda event, args: modify(event.payload),
    "context": contexts,
    "reminder": remind,
    "effects-block": effects_block,
    "log": log_all,
    "error": error,
    "panic": panic,
    "nothing": nothing,
    "loop": loop,
    "memory": memory,
    "recursion": recursion,
}


def count(event: Event, args: Args) -> Any:
    first = metrics.incr("conformance.count", 2)
    second = metrics.incr("conformance.count")
    metrics.set("conformance.gauge", 2.5)
    metrics.set("conformance.whole", 7)
    names = [name for name in metrics.snapshot() if name.startswith("conformance.")]
    return {
        "first": first,
        "second": second,
        "gauge": metrics.get("conformance.gauge"),
        "whole": metrics.get("conformance.whole"),
        "missing": metrics.get("conformance.none"),
        "names": names,
    }


def remember(event: Event, args: Args) -> Any:
    cache.set("k", args["value"])
    return {
        "got": cache.get("k"),
        "has": cache.has("k"),
        "deleted": cache.delete("k"),
        "again": cache.delete("k"),
        "gone": cache.get("k"),
        "five": cache.increment("n", 5),
        "seven": cache.increment("n", 2),
        "fresh": cache.compare_and_set("c", cache.ABSENT, 1),
        "stale": cache.compare_and_set("c", cache.ABSENT, 2),
        "swapped": cache.compare_and_set("c", 1, {"x": 2}),
        "c": cache.get("c"),
    }


def remember_a_minute(event: Event, args: Args) -> Any:
    cache.set("t", 1, ttl=60)
    return cache.get("t")


def remember_much(event: Event, args: Args) -> Any:
    cache.set("big", "x" * args["size"])
    return "stored"


def remember_text(event: Event, args: Args) -> Any:
    cache.set("w", "text")
    return cache.increment("w", 1)


def get(event: Event, args: Args) -> Any:
    response = http.get(args["url"], headers={"x-conformance": "yes"})
    return {
        "status": response.status,
        "text": response.text(),
        "header": response.headers.get("x-answer"),
    }


def post(event: Event, args: Args) -> Any:
    response = http.post(args["url"], args["body"])
    return {"status": response.status, "text": response.text()}


def watch(event: Event, args: Args) -> Any:
    source = hooks.source("conformance") or ""
    return {"some": "event:" in source, "none": hooks.source("nobody")}


def describe(event: Event, args: Args) -> Any:
    return {
        "name": event.name,
        "id": event.id,
        "subject": event.subject,
        "hook": event.hook,
        "depth": event.depth,
    }


NOTES: dict[str, Mode] = {
    "modify": lambda event, args: args["value"],
    "metrics": count,
    "cache": remember,
    "cache-ttl": remember_a_minute,
    "cache-quota": remember_much,
    "cache-wrong-type": remember_text,
    "http-get": get,
    "http-post": post,
    "tools": lambda event, args: tools.call(args["tool"], {"q": "x"}),
    "env": lambda event, args: env.get(args["variable"]),
    "files": lambda event, args: files.read(args["path"]).decode(),
    "files-list": lambda event, args: files.list(args["path"]),
    "hooks": lambda event, args: [hook.name for hook in hooks.list()],
    "hooks-source": watch,
    "emit": lambda event, args: events.emit(args["name"], {"n": 1}),
    "clock": lambda event, args: clock.now(),
    "random": lambda event, args: random.bytes(8).hex(),
    "event": describe,
}
