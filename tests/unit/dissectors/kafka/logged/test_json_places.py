"""Values of a text, found by their places, are those that Python's json makes; what json refuses is refused."""

from __future__ import annotations

import gzip
import json
import random
from typing import Any

import pytest
from paths import ROOT

from dissectors.kafka.logged.log_rows import Names, Places

LOG = ROOT / "tests" / "data" / "request_logs" / "kafka_391.log.gz"
ODD = [
    *(b'" \\ { } [ ] , : null true nul 1e5 1E+5 1.5e-3 1. .5 -0 01 - -1.0 NaN Infinity -Infinity'.split()),
    *(
        b'"\\u00e9" "\\ud800" "\\ud83d\\ude00" "\\u12" "\\x" "\\n\\"" \xc3\xa9 "\x01" {"a":1,"a":2} [1,] {,} [[]] {"":{}}'.split()
    ),
    b"9" * 19,
    b"9" * 4_300,
    b"9" * 4_301,
    b"1" * 4_301 + b".5",
    b"\t\r\n ",
]


def rebuilt(places: Places, text: bytes) -> Any:
    """The value as an object, by nothing but places."""
    end = places.read(text, 0)
    if text[end:].strip(b" \t\r\n"):
        raise ValueError
    return _at(places, 0, json.loads(text.decode()))


def _at(places: Places, place: int, like: Any) -> Any:
    if not isinstance(like, dict):
        return json.loads(places.slice(place))
    found = places.values(place, Names(name.encode("utf-8", "surrogatepass") for name in like))
    return {
        name: _at(places, each[0], value) if isinstance(each, tuple) else each
        for (name, value), each in zip(like.items(), found, strict=True)
    }


def outcome(read: Any, text: bytes) -> str:
    try:
        text.decode()
        return repr(read(text))
    except (ValueError, RecursionError):
        return "refused"


def spoiled(choose: random.Random, text: bytes) -> bytes:
    for _ in range(choose.choice((1, 1, 2, 3))):
        at = choose.randrange(len(text) + 1)
        if choose.random() < 0.7:
            at = text.find(b":", at) + 1
        end = at + choose.choice((0, 0, 1, 4))
        if choose.random() < 0.3:
            end = min((found for found in (text.find(mark, at) for mark in b",]}") if found >= 0), default=at)
        text = text[:at] + choose.choice(ODD) + text[end:]
    return text


def test_values_are_those_of_json() -> None:
    places, choose = Places(), random.Random(57)
    lines = [line for line in gzip.decompress(LOG.read_bytes()).splitlines() if b'{"' in line and len(line) < 4_000]
    lines = [line[line.index(b"{") : line.rindex(b"}") + 1] for line in lines]
    assert len(lines) > 40
    for line in lines:
        assert outcome(lambda text: rebuilt(places, text), line) == outcome(json.loads, line) != "refused"
    read = 0
    for _ in range(6_000):
        text = spoiled(choose, choose.choice(lines))
        expected = outcome(json.loads, text)
        read += expected != "refused"
        assert outcome(lambda text: rebuilt(places, text), text) == expected, text
    assert 500 < read < 5_000


@pytest.mark.parametrize("text", ODD)
def test_odd_values(text: bytes) -> None:
    places = Places()
    for each in (text, b"[%b]" % text, b'{"a":%b}' % text, b'{"a":[%b,1]}' % text):
        assert outcome(lambda text: rebuilt(places, text), each) == outcome(json.loads, each)


def test_very_deep_values_are_refused() -> None:
    for depth, is_read in ((500, True), (501, False), (1_000_000, False)):
        text = b"[" * depth + b"]" * depth
        assert (outcome(lambda text: Places().read(text, 0), text) != "refused") == is_read


def test_each_cut_of_a_line_is_refused() -> None:
    text = b'{"a":[1,-2.5e3,"x\\u00e9y",{"b":null}],"c":true,"d":"'
    for end in range(len(text)):
        assert outcome(lambda text: Places().read(text, 0), text[:end]) == "refused"
