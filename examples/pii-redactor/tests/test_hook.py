"""The hook as a whole, in plain Python."""

from __future__ import annotations

from typing import Any

import pytest
from hookbox import allow, metrics, modify, testing
from hookbox.testing import event

from hook import pii_redactor


@pytest.fixture(autouse=True)
def _reset() -> None:
    testing.reset()


def post(result: Any, content: str = "") -> Any:
    """Returns what the hook decides about a result."""
    payload = {"name": "read_file", "result": result, "content": content}
    return pii_redactor(event(payload, "tool.post", subject="read_file"))


def test_a_result_without_personal_data_passes() -> None:
    assert post({"stdout": "3 files changed", "code": 0}) == allow()
    assert testing.logs() == []


def test_values_are_replaced_all_through_and_keys_stay() -> None:
    result = {
        "bob@example.org": [{"to": "bob@example.org"}, None, 2.5, True],
        "n": 4111111111111111,
        "id": 1700000000123456789,
    }
    assert post(result) == modify(
        {
            "result": {
                "bob@example.org": [{"to": "[email-1]"}, None, 2.5, True],
                "n": "[card-1]",
                "id": 1700000000123456789,
            }
        }
    )


def test_each_value_counts_once() -> None:
    text = "a@x.org b@x.org a@x.org 123-45-6789"
    assert post(text, text) == modify(
        {"result": "[email-1] [email-2] [email-1] [ssn-1]"}
    )
    assert metrics.snapshot() == {"pii.email": 2, "pii.ssn": 1}
    assert testing.logs() == [
        ("info", "redacted 2 email in the result of read_file"),
        ("info", "redacted 1 ssn in the result of read_file"),
    ]


def test_text_that_says_more_than_the_result_is_cleaned_too() -> None:
    assert post({"ok": True}, "mail bob@example.org") == modify(
        {"content": "mail [email-1]"}
    )
