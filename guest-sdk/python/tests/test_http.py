"""Requests and responses in the words of Python."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from hookbox import http


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Answers every request, and keeps it."""
    requests: list[Any] = []

    def request(*fields: object) -> SimpleNamespace:
        names = ("method", "url", "headers", "body", "timeout_ms")
        return SimpleNamespace(**dict(zip(names, fields, strict=True)))

    def send(request: Any) -> SimpleNamespace:
        requests.append(request)
        headers = [("X-A", "1"), ("x-a", "2"), ("Content-Type", "application/json")]
        return SimpleNamespace(
            status=201, headers=headers, body=b'{"n": 1}', url=request.url
        )

    monkeypatch.setattr(http, "_http", SimpleNamespace(Request=request, send=send))
    return requests


def test_a_response_is_read(sent: list[Any]) -> None:
    response = http.get("https://example.com/", headers={"x": "y"}, timeout=2)
    assert response.ok
    assert response.headers == {"x-a": "1, 2", "content-type": "application/json"}
    assert response.text() == '{"n": 1}'
    assert response.json() == {"n": 1}
    assert vars(sent[0]) == {
        "method": "GET",
        "url": "https://example.com/",
        "headers": [("x", "y")],
        "body": None,
        "timeout_ms": 2000,
    }


def test_bodies_are_bytes(sent: list[Any]) -> None:
    http.post("https://example.com/", "é")
    http.post("https://example.com/", b"\xff")
    http.post("https://example.com/", json=None)
    assert [request.body for request in sent] == [b"\xc3\xa9", b"\xff", b"null"]
    assert sent[2].headers == [("content-type", "application/json")]
    with pytest.raises(TypeError, match="not both"):
        http.send("PUT", "https://example.com/", "x", json=1)


def test_what_is_no_text_is_replaced() -> None:
    assert http.Response(200, {}, b"a\xff", "").text() == "a\ufffd"
    assert not http.Response(404, {}, b"", "").ok
