"""The list of what may be kept, held against every field of every schema."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from analyzer.redact import allow_list
from dissectors.kafka.schema import lookup
from dissectors.kafka.schema.fields import Field, Message
from dissectors.kafka.schema.roles import walk

NUMBERS = {"bool", "int8", "int16", "uint16", "int32", "uint32", "int64", "float64"}


def fields() -> Iterator[tuple[str, Field]]:
    """Every field of every API, and of the structs inside bytes, with where it stands."""
    for key in lookup.readable_keys():
        api = lookup.api(key)
        assert api is not None
        for message in (api.request, api.response):
            for path, field, _ in walk(message):
                yield f"{api.name} {message.direction} {path}", field
    for name in lookup.embedded_names():
        for path, field, _ in walk(Message("request", lookup.embedded(name).fields)):
            yield f"{name} {path}", field


ALL = [(where, field) for where, field in fields() if field.type != "struct"]


def known(field: Field) -> bool:
    if field.type in NUMBERS:
        return field.name in allow_list.NUMBERS
    if field.type == "uuid":
        return field.name in allow_list.UUIDS
    return field.name in (allow_list.TEXTS if field.type == "string" else allow_list.BYTES)


def test_a_person_has_looked_at_each_field() -> None:
    """A field of a new version is zeros until its name stands on the list; this test asks for that."""
    unknown = [where for where, field in ALL if not known(field)]
    assert not unknown, f"{len(unknown)} fields are not on the list: {unknown[:5]}"


def test_no_name_stands_there_for_nothing() -> None:
    sorts = {"uuid": "uuid", "string": "string"} | dict.fromkeys(NUMBERS, "number")
    used = {(sorts.get(field.type, "bytes"), field.name) for _, field in ALL}
    listed = {("number", name) for name in allow_list.NUMBERS} | {("uuid", name) for name in allow_list.UUIDS}
    listed |= {("string", name) for name in allow_list.TEXTS} | {("bytes", name) for name in allow_list.BYTES}
    assert listed == used


def test_what_the_schema_calls_secret_is_never_kept() -> None:
    for where, field in ALL:
        if "secret" in field.roles:
            assert allow_list.treatment(field) in ("secret", "token", "name", "message"), where
        if {"secret_by_name", "secret_if_marked"} & set(field.roles):
            assert allow_list.treatment(field) == "secret", where


def test_a_field_without_a_name_on_the_list_becomes_zeros() -> None:
    for kind in ("int32", "string", "bytes", "uuid", "records"):
        field = Field("brand_new", kind, False, lookup.Span(0, 9), None, None, (), None, None, "", (), 0)
        assert allow_list.treatment(field) == "secret"


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("word", b"orders"), ("topic", b"__orders"), ("group", b"consumer-group"), ("client", b"consumer-orders-1"),
        ("version", b"1.0-orders"), ("sentence", b"the password is hunter22"), ("principal", b"alice"), ("host", b"kafka1"),
    ],
)  # fmt: skip
def test_names_of_users_are_not_well_known(kind: str, text: bytes) -> None:
    assert not allow_list.is_kept(kind, text)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("word", b"range"), ("topic", b"__consumer_offsets"), ("client", b"consumer-1"), ("client", b"broker-1-fetcher-0"),
        ("version", b"4.3.1"), ("version", b"2.5.0-SNAPSHOT"), ("principal", b"User:ANONYMOUS"),
    ],
)  # fmt: skip
def test_words_of_kafka_stay(kind: str, text: bytes) -> None:
    assert allow_list.is_kept(kind, text)
