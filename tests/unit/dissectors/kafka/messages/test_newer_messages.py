"""Newer messages tell nothing that is not so: those of a forged release, and each version of Kafka read by the one before."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache
from random import Random
from typing import Any

import forged_release
import implied_columns
import pytest
import random_messages
from encode import encode, plain
from walk_helpers import Message, apaches_messages, walked

from dissectors import layout
from dissectors.kafka.columns.walk import Walker
from dissectors.kafka.messages.explain import explain
from dissectors.kafka.messages.newer_messages import read_front
from dissectors.kafka.messages.room import Room
from dissectors.kafka.messages.wire import Wire
from dissectors.kafka.schema import lookup
from dissectors.kafka.schema.fields import Span

# What Kafka's brokers and clients put first, in any combination.
THROTTLES = (0, 1, 30, 255, 256, 1000, 18_000, 3_600_000)
ERRORS = (-1, 0, 0, 0, 3, 7, 16, 27, 69, 89, 129)


def plausible(sample: random_messages.Sample, chance: Random) -> bytes:
    """The message with a throttle time, an error code and software as there are."""
    told = {
        "throttle_time_ms": chance.choice(THROTTLES), "error_code": chance.choice(ERRORS),
        "client_software_name": "apache-kafka-java", "client_software_version": chance.choice(("4.5.0", "v1.2")),
    }  # fmt: skip
    body = sample.body | {name: value for name, value in told.items() if name in sample.body}
    return encode(*sample.kind, sample.header, body)


def truth(body: dict[str, Any]) -> dict[int, object]:
    """What the columns may hold: no error code 0."""
    names = {
        "throttle_time_ms": layout.VALUE_THROTTLE_MS, "error_code": layout.VALUE_ERROR_CODE,
        "client_software_name": layout.VALUE_SOFTWARE_NAME, "client_software_version": layout.VALUE_SOFTWARE_VERSION,
    }  # fmt: skip
    return {column: body[name] for name, column in names.items() if name in body}


@cache
def samples() -> list[tuple[Message, dict[str, Any]]]:
    """Messages of the newest versions, forged, with what they say."""
    found = []
    for key in (*forged_release.CHANGED, *forged_release.UNKNOWN):
        newest = lookup.api(key).versions.last
        for direction in ("request", "response"):
            for seed in range(20):
                chance = Random(f"{key} {direction} {seed}")
                sample = random_messages.sample(random_messages.Kind(key, newest, direction), chance, full=seed < 7)
                frame = plausible(sample, chance)
                forged = forged_release.forged(key, newest, direction, frame)
                assert forged is not None
                made = Message(*forged_release.forged_name(key, newest), direction, forged)
                found.append((made, plain(explain(key, newest, direction, frame).body)))
    return found


def test_a_forged_release_says_nothing_that_is_not_so() -> None:
    forged = samples()
    got = walked(Walker(write_entries=True), [message for message, _ in forged])
    told: Counter[int] = Counter()
    for row, (message, body) in enumerate(forged):
        found = explain(*message[:4])
        assert got.decoded[row] == layout.DECODED_UNSUPPORTED, message
        assert (got.values[row], got.entries[row], got.errors[row]) == implied_columns.project(found, message.frame)
        values = {column: value for column, value in got.values[row].items() if column != layout.VALUE_CLIENT_ID}
        if message.key == 18 and message.direction == "request":
            assert values == truth(body)
        assert values.items() <= truth(body).items(), (message, found.body)
        assert got.values[row].get(layout.VALUE_CLIENT_ID) == found.header.value("client_id")
        assert all(error[layout.ERROR_CODE] == body["error_code"] for error in got.errors[row])
        told.update(values.keys())
    assert told[layout.VALUE_THROTTLE_MS] > 150 and told[layout.VALUE_ERROR_CODE] > 40, told
    assert told[layout.VALUE_SOFTWARE_NAME] == 20


def test_what_the_capture_has_cut_of_a_newer_message_is_true_as_well() -> None:
    for message, body in samples()[::7]:
        places = range(1, min(len(message.frame), 60))
        got = walked(Walker(write_entries=True), [message] * len(places), list(places))
        for row, decoded in enumerate(got.decoded):
            assert decoded in (layout.DECODED_UNSUPPORTED, layout.DECODED_TRUNCATED)
            got.values[row].pop(layout.VALUE_CLIENT_ID, None)
            assert got.values[row].items() <= truth(body).items()


def read_by(api: lookup.Api, known: int, message: Message) -> dict[str, Any]:
    """What is read of a message of a version that is newer than `known`."""
    narrow = replace(api, versions=Span(api.versions.first, known))
    found = explain(*message[:4])
    begin = min((node.start for node in found.body.fields.values()), default=len(message.frame))
    told = read_front(narrow, message.direction, Wire(message.frame, begin), Room())
    return {} if told is None else plain(told)


def messages_that_follow() -> list[tuple[lookup.Api, Message]]:
    """Flexible messages of each version that has one before it: Apache's, and random ones."""
    found = [message for message in apaches_messages() if message.version > 0]
    for kind in random_messages.kinds():
        for seed in range(4):
            chance = Random(f"{kind} {seed}")
            found.append(Message(*kind, plausible(random_messages.sample(kind, chance), chance)))
    apis = [(lookup.api(message.key), message) for message in found]
    return [
        (api, message)
        for api, message in apis
        if api.is_flexible(message.version) and message.version > api.versions.first
    ]


@pytest.mark.slow
def test_each_version_of_kafka_is_read_by_the_one_before() -> None:
    """All of history: had only version N been known, nothing wrong would have been read of N + 1."""
    told: Counter[str] = Counter()
    for api, message in messages_that_follow():
        body = plain(explain(*message[:4]).body)
        for name, value in read_by(api, message.version - 1, message).items():
            if name == "error_code" and value == 0:
                continue
            assert body.get(name) == value, (api.name, message)
            told[name] += 1
    assert told["throttle_time_ms"] > 500 and told["error_code"] > 200, told
