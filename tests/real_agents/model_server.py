#!/usr/bin/env python3
"""A model that follows a script, for three agents at once.

It answers the Anthropic Messages, the OpenAI Responses and the Gemini API.
Whoever asks first is told to run `touch MARKER` with the shell tool that was
offered; whoever comes back with the outcome is told `done`. Everything that
was asked is kept, a JSON object a line: `method`, `path`, `body`, and under
`outcome` whether the conversation has the outcome of the call.

    model_server.py --marker FILE --log FILE [--port PORT]

It says on standard output on which port it listens, on the loopback only.
"""

import argparse
import fcntl
import json
import shlex
import socket
import struct
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Iterator
from urllib.parse import urlsplit

Json = dict[str, Any]
Tools = dict[str, Json]
# What an answer is made of: "json" and one object, or "events" and several.
Answer = tuple[str, Any]
DONE = "done"
CALL_ID = "call_touch_1"


class Script:
    """What the model says, whatever the protocol."""

    def __init__(self, marker: str) -> None:
        self.command = f"touch {shlex.quote(marker)}"

    def arguments(self, schema: Json) -> Json:
        """The command, as this tool wants it."""
        properties = schema.get("properties", {})
        if "cmd" in properties:
            return {"cmd": self.command}
        if properties.get("command", {}).get("type") == "array":
            return {"command": ["bash", "-c", self.command]}
        arguments = {"command": self.command}
        if "description" in schema.get("required", []):
            arguments["description"] = "Touches a file"
        return arguments

    def call(self, offered: Tools, known: tuple[str, ...]) -> tuple[str, Json] | None:
        """The first of the known shell tools that was offered."""
        for name in known:
            if name in offered:
                return name, self.arguments(offered[name])
        return None


def has_outcome(body: Any) -> bool:
    """Whether an agent tells what came of the call, be it a result or a refusal."""
    if not isinstance(body, dict):
        return False
    blocks = [
        block
        for message in body.get("messages", [])
        if isinstance(message.get("content"), list)
        for block in message["content"]
    ]
    items = [item for item in body.get("input", []) if isinstance(item, dict)]
    parts = [part for content in body.get("contents", []) for part in content.get("parts", [])]
    return (
        any(block.get("type") == "tool_result" for block in blocks)
        or any(item.get("type") == "function_call_output" for item in items)
        or any("functionResponse" in part for part in parts)
    )


def anthropic(script: Script, path: str, body: Json) -> Answer:
    if path.endswith("/count_tokens"):
        return "json", {"input_tokens": 10}
    offered = {tool["name"]: tool.get("input_schema", {}) for tool in body.get("tools", [])}
    call = None if has_outcome(body) else script.call(offered, ("Bash",))
    message: Json = {
        "id": "msg_scripted",
        "type": "message",
        "role": "assistant",
        "model": body.get("model", "scripted"),
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 10, "output_tokens": 1},
    }
    if call:
        block: Json = {"type": "tool_use", "id": CALL_ID, "name": call[0], "input": call[1]}
    else:
        block = {"type": "text", "text": DONE}
    reason = "tool_use" if call else "end_turn"
    if not body.get("stream"):
        return "json", message | {"content": [block], "stop_reason": reason}
    return "events", anthropic_events(message, block, reason)


def anthropic_events(message: Json, block: Json, reason: str) -> Iterator[Json]:
    if block["type"] == "tool_use":
        start = block | {"input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    else:
        start = block | {"text": ""}
        delta = {"type": "text_delta", "text": block["text"]}
    yield {"type": "message_start", "message": message}
    yield {"type": "content_block_start", "index": 0, "content_block": start}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    yield {
        "type": "message_delta",
        "delta": {"stop_reason": reason, "stop_sequence": None},
        "usage": {"output_tokens": 5},
    }
    yield {"type": "message_stop"}


def openai(script: Script, body: Json) -> Answer:
    offered = {
        tool["name"]: tool.get("parameters", {})
        for tool in body.get("tools", [])
        if tool.get("type") == "function"
    }
    known = ("exec_command", "shell_command", "shell")
    call = None if has_outcome(body) else script.call(offered, known)
    if call:
        item: Json = {
            "type": "function_call",
            "id": "fc_touch_1",
            "call_id": CALL_ID,
            "name": call[0],
            "arguments": json.dumps(call[1]),
            "status": "completed",
        }
    else:
        item = {
            "type": "message",
            "id": "msg_scripted",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": DONE, "annotations": []}],
        }
    response: Json = {
        "id": "resp_scripted",
        "object": "response",
        "model": body.get("model", "scripted"),
        "status": "completed",
        "output": [item],
        "usage": {
            "input_tokens": 10,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 5,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 15,
        },
    }
    if not body.get("stream"):
        return "json", response
    started = response | {"status": "in_progress", "output": [], "usage": None}
    return "events", iter(
        [
            {"type": "response.created", "response": started},
            {"type": "response.output_item.added", "output_index": 0, "item": item},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": response},
        ]
    )


def gemini(script: Script, path: str, body: Json) -> Answer:
    if path.endswith(":countTokens"):
        return "json", {"totalTokens": 10}
    if path.endswith(":embedContent"):
        return "json", {"embedding": {"values": [0.0]}}
    offered = {
        function["name"]: function.get("parametersJsonSchema") or function.get("parameters", {})
        for tool in body.get("tools", [])
        for function in tool.get("functionDeclarations", [])
    }
    call = None if has_outcome(body) else script.call(offered, ("run_shell_command",))
    if call:
        part: Json = {"functionCall": {"id": CALL_ID, "name": call[0], "args": call[1]}}
    elif body.get("generationConfig", {}).get("responseMimeType") == "application/json":
        part = {"text": gemini_side_answer(body)}
    else:
        part = {"text": DONE}
    answer = {
        "candidates": [
            {"index": 0, "content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}
        ],
        "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15},
        "modelVersion": "scripted",
    }
    if "streamGenerateContent" in path:
        return "events", iter([answer])
    return "json", answer


def gemini_side_answer(body: Json) -> str:
    """An object with every required field, which is all that side questions need."""
    config = body.get("generationConfig", {})
    schema = config.get("responseJsonSchema") or config.get("responseSchema") or {}
    properties = schema.get("properties", {})
    answer: Json = {}
    for name in schema.get("required", []):
        choices = properties.get(name, {}).get("enum")
        kind = str(properties.get(name, {}).get("type", "string")).lower()
        answer[name] = choices[-1] if choices else 1 if kind in ("integer", "number") else DONE
    return json.dumps(answer)


def models() -> Json:
    """An empty catalogue in every shape that is asked for."""
    return {"data": [], "models": [], "object": "list", "has_more": False}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    script: Script
    log_path: str
    lock = threading.Lock()

    def do_POST(self) -> None:
        path = urlsplit(self.path).path
        body = self.read_body()
        self.note(body)
        question: Json = body if isinstance(body, dict) else {}
        if "/messages" in path:
            self.reply(*anthropic(self.script, path, question))
        elif path.endswith("/responses"):
            self.reply(*openai(self.script, question))
        elif "/models/" in path and ":" in path:
            self.reply(*gemini(self.script, path, question))
        else:
            self.reply("json", {})

    def do_GET(self) -> None:
        self.note(None)
        wanted = urlsplit(self.path).path
        if self.headers.get("Upgrade"):
            self.send_error(426, "no websockets here")
        else:
            self.reply("json", models() if "/models" in wanted else {})

    def do_HEAD(self) -> None:
        self.note(None)
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_PUT = do_PATCH = do_DELETE = do_POST

    def read_body(self) -> Any:
        raw = self.read_chunks() if self.is_chunked() else self.read_plain()
        try:
            return json.loads(raw)
        except ValueError:
            return raw.decode("utf-8", "replace")

    def is_chunked(self) -> bool:
        return "chunked" in self.headers.get("Transfer-Encoding", "").lower()

    def read_plain(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def read_chunks(self) -> bytes:
        whole = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            whole += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return whole

    def note(self, body: Any) -> None:
        line = json.dumps(
            {
                "method": self.command,
                "path": self.path,
                "outcome": has_outcome(body),
                "body": body,
            }
        )
        with self.lock, open(self.log_path, "a", encoding="utf-8") as log:
            log.write(line + "\n")

    def reply(self, kind: str, answer: Any) -> None:
        if kind == "events":
            content_type = "text/event-stream"
            text = "".join(map(server_sent, answer))
        else:
            content_type = "application/json"
            text = json.dumps(answer)
        data = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *arguments: Any) -> None:
        """The log file has it already."""


def server_sent(event: Json) -> str:
    name = f"event: {event['type']}\n" if "type" in event else ""
    return f"{name}data: {json.dumps(event)}\n\n"


def raise_loopback() -> None:
    """A network namespace starts with its loopback down."""
    get_flags, set_flags, up = 0x8913, 0x8914, 0x1
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        request = struct.pack("16sH14x", b"lo", 0)
        flags = struct.unpack("16sH14x", fcntl.ioctl(control, get_flags, request))[1]
        if not flags & up:
            fcntl.ioctl(control, set_flags, struct.pack("16sH14x", b"lo", flags | up))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--marker", required=True, help="the file the model wants touched")
    parser.add_argument("--log", required=True, help="where every request is written")
    parser.add_argument("--port", type=int, default=0)
    options = parser.parse_args()
    Handler.script = Script(options.marker)
    Handler.log_path = options.log
    raise_loopback()
    server = ThreadingHTTPServer(("127.0.0.1", options.port), Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
