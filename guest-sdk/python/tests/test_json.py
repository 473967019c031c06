"""JSON goes in and comes out without a loss."""

from __future__ import annotations

import pytest

from hookbox import _json


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "[1,-1,0]",
        '{"b":1,"a":2}',
        "123456789012345678901234567890123456789012345678901234567890",
        "[0.1,1e+300,5e-324,-2.5]",
        '"\\u0000\\u001f\\"\\\\"',
        '"é😀\u2028"',
        "[true,false,null]",
    ],
)
def test_what_is_read_is_written_the_same(text: str) -> None:
    assert _json.dumps(_json.loads(text), "it") == text


@pytest.mark.parametrize("value", [float("nan"), float("inf"), [-float("inf")]])
def test_numbers_that_json_does_not_have_are_refused(value: object) -> None:
    with pytest.raises(ValueError, match="the payload cannot be written as JSON"):
        _json.dumps(value, "the payload")


@pytest.mark.parametrize("value", [{1, 2}, b"x", object(), {(1, 2): 3}])
def test_values_that_json_does_not_have_are_refused(value: object) -> None:
    with pytest.raises(TypeError, match="the payload cannot be written as JSON"):
        _json.dumps(value, "the payload")


def test_a_circle_is_refused() -> None:
    circle: list[object] = []
    circle.append(circle)
    with pytest.raises(ValueError, match="Circular"):
        _json.dumps(circle, "the payload")


def test_half_of_a_surrogate_pair_becomes_the_replacement_character() -> None:
    assert _json.dumps({"\ud800": "x\udfff"}, "it") == '{"\ufffd":"x\ufffd"}'
    assert _json.dumps(_json.loads('"\\ud83d\\ude00"'), "it") == '"😀"'
    assert _json.dumps("\ud83d" + "\ude00", "it") == '"😀"'
