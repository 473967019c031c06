"""HTTP requests to granted places."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hookbox import _host, _json
from hookbox._border import milliseconds, text

if TYPE_CHECKING:
    from hookbox._border import Duration

_http = _host.interface("http")

_NOT_GIVEN = object()


@dataclass(frozen=True)
class Response:
    """What came back. Any status is an answer, not an error."""

    status: int
    #: By lower-case name; the values of a repeated header are joined by commas.
    headers: dict[str, str]
    body: bytes
    #: Where the answer came from, after redirects.
    url: str

    @property
    def ok(self) -> bool:
        """Whether the status says success."""
        return 200 <= self.status < 300

    def text(self, encoding: str = "utf-8") -> str:
        """Returns the body as text; what is not text becomes U+FFFD."""
        return self.body.decode(encoding, "replace")

    def json(self) -> Any:
        """Returns what the body says as JSON."""
        return _json.loads(self.body)


def get(
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    timeout: Duration | None = None,
) -> Response:
    """Sends a GET request."""
    return send("GET", url, headers=headers, timeout=timeout)


def post(
    url: str,
    body: bytes | str | None = None,
    *,
    json: object = _NOT_GIVEN,
    headers: Mapping[str, str] | None = None,
    timeout: Duration | None = None,
) -> Response:
    """Sends a POST request with a body, or with a value as JSON."""
    return send("POST", url, body, json=json, headers=headers, timeout=timeout)


def send(
    method: str,
    url: str,
    body: bytes | str | None = None,
    *,
    json: object = _NOT_GIVEN,
    headers: Mapping[str, str] | None = None,
    timeout: Duration | None = None,
) -> Response:
    """Sends a request.

    Raises :class:`HookboxError` of the kind ``not-granted``,
    ``invalid-request``, ``timeout``, ``too-large`` or ``failed``.
    """
    pairs = [
        (text(name, "a header's name"), text(value, "a header's value"))
        for name, value in (headers or {}).items()
    ]
    if json is not _NOT_GIVEN:
        if body is not None:
            raise TypeError("give a body or json, not both")
        body = _json.dumps(json, "the body")
        if not any(name.lower() == "content-type" for name, _ in pairs):
            pairs.append(("content-type", "application/json"))
    if isinstance(body, str):
        body = text(body, "the body").encode()
    request = _http.Request(
        text(method, "the method"),
        text(url, "the url"),
        pairs,
        None if body is None else bytes(body),
        milliseconds(timeout, "timeout", 32),
    )
    return _response(_host.call(_http.send, request))


def _response(raw: Any) -> Response:
    headers: dict[str, str] = {}
    for name, value in raw.headers:
        name = name.lower()
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return Response(raw.status, headers, raw.body, raw.url)
