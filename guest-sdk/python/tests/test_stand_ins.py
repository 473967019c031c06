"""Outside the sandbox the SDK works without a host."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hookbox import (
    HookboxError,
    cache,
    clock,
    env,
    events,
    files,
    hooks,
    http,
    log,
    metrics,
    random,
    testing,
    tools,
)
from hookbox._errors import from_case


@pytest.fixture(autouse=True)
def _reset() -> None:
    testing.reset()


def test_log_lines_are_kept() -> None:
    log.debug("a")
    log.warn("b")
    assert testing.logs() == [("debug", "a"), ("warn", "b")]
    with pytest.raises(TypeError):
        log.info(5)  # type: ignore[arg-type]


def test_metrics_count() -> None:
    assert metrics.incr("b", 2) == 2
    assert metrics.incr("b") == 3
    metrics.set("a", 2.5)
    metrics.set("c", 7)
    assert metrics.get("a") == 2.5
    assert metrics.get("none") is None
    assert metrics.snapshot() == {"a": 2.5, "b": 3, "c": 7}
    assert list(metrics.snapshot()) == ["a", "b", "c"]
    with pytest.raises(OverflowError):
        metrics.set("c", 2**63)


def test_the_cache_keeps_values() -> None:
    cache.set("k", {"n": 10**40}, ttl=60)
    assert cache.get("k") == {"n": 10**40}
    assert cache.has("k")
    assert cache.delete("k")
    assert not cache.delete("k")
    assert cache.get("k") is None
    assert cache.increment("n", 5) == 5
    assert cache.increment("n") == 6
    assert cache.compare_and_set("c", cache.ABSENT, None)
    assert not cache.compare_and_set("c", cache.ABSENT, 1)
    assert cache.compare_and_set("c", None, {"x": 2})
    cache.set("text", "x")
    with pytest.raises(HookboxError) as caught:
        cache.increment("text")
    assert caught.value.kind == "wrong-type"


def test_time_stands_still_and_chance_repeats() -> None:
    assert clock.now() == 946_684_800_000
    first = random.bytes(8)
    testing.reset()
    assert random.bytes(8) == first
    for count in (-1, 65_537):
        with pytest.raises(ValueError, match="65536"):
            random.bytes(count)


@pytest.mark.parametrize(
    "call",
    [
        lambda: http.get("https://example.com/"),
        lambda: http.post("https://example.com/", json={"a": 1}),
        lambda: tools.call("lookup", {}),
        lambda: env.get("CI"),
        lambda: files.read("docs/a.txt"),
        lambda: files.list("docs/"),
        lambda: hooks.list(),
        lambda: hooks.source("x"),
        lambda: events.emit("custom.x", {}),
    ],
)
def test_what_only_the_host_has_is_unavailable(call: Callable[[], Any]) -> None:
    with pytest.raises(HookboxError) as caught:
        call()
    assert caught.value.kind == "unavailable"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Error_NotGranted", "not-granted"),
        ("Error_Quota", "quota"),
        ("Error_UnknownTool", "unknown-tool"),
    ],
)
def test_cases_of_the_contract_become_kinds(name: str, kind: str) -> None:
    case = type(name, (), {"value": "why"})()
    error = from_case(case)
    assert (error.kind, error.message, str(error)) == (kind, "why", f"{kind}: why")
