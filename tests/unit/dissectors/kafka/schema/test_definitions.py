"""Every schema file against Apache's field lists of three releases, at every version; and against committed layouts."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

import pytest
from kafka_reference import RELEASES, newer_names
from layouts import Release, fields_of, layout_of, of_embedded, of_schema, versions_of
from paths import LAYOUTS
from write_layouts import lines

from dissectors.kafka.messages.explain import default_value
from dissectors.kafka.schema import lookup, roles

if TYPE_CHECKING:
    pass

KEYS = lookup.readable_keys()
DIRECTIONS = ("request", "response")

# Same version, other wire in two releases: the older was unstable, ours is the newer.
OTHER_WIRE = {("3.9.1", 87, 0)}


@cache
def release(name: str) -> Release:
    return Release(name)


def without_names(layout: str) -> str:
    return re.sub(r"\w+:(?=\[|\(|\w)", "", layout)


@pytest.mark.parametrize("name", RELEASES)
@pytest.mark.parametrize("key", KEYS)
def test_layout_is_that_of_the_release(key: int, name: str) -> None:
    api = lookup.api(key)
    apache = release(name)
    for direction in DIRECTIONS:
        versions = apache.versions(key, direction)
        for version in range(versions.first, versions.last + 1) if versions else ():
            if (name, key, version) in OTHER_WIRE:
                continue
            theirs, ours = apache.layout(key, direction, version), of_schema(api, direction, version)
            if newer_names(name, key, direction, version):
                theirs, ours = without_names(theirs), without_names(ours)
            assert ours == theirs, f"{api.name} {direction} v{version}"


@pytest.mark.parametrize("key", KEYS)
def test_versions_are_those_of_all_releases(key: int) -> None:
    api = lookup.api(key)
    found: set[int] = set()
    for name in RELEASES:
        for direction in DIRECTIONS:
            span = release(name).versions(key, direction)
            found |= set(range(span.first, span.last + 1)) if span else set()
    assert found == set(range(api.versions.first, api.versions.last + 1))


def versions_in(name: str, key: int) -> set[int]:
    span = release(name).versions(key, "request")
    return set(range(span.first, span.last + 1)) if span else set()


@pytest.mark.parametrize("key", KEYS)
def test_gone_versions_are_those_that_the_newer_release_lacks(key: int) -> None:
    api = lookup.api(key)
    kept = versions_in(RELEASES[-1], key)
    had = set().union(*(versions_in(name, key) for name in RELEASES))
    gone = set(range(api.gone.first, min(api.gone.last, api.versions.last) + 1)) if api.gone else set()
    assert gone == had - kept
    if not gone:
        assert api.gone_in is None
        return
    lacking = next(name for name in RELEASES if not gone & versions_in(name, key))
    # What 4.3.1 lacks went earlier: share groups were early access until 4.0; all else went with KIP-896 and ZooKeeper.
    earlier = "4.1" if key in (76, 77, 78, 79) else "4.0"
    assert api.gone_in == (earlier if lacking == "4.3.1" else lacking.rpartition(".")[0])


@pytest.mark.parametrize("key", KEYS)
def test_defaults_are_those_of_apache(key: int) -> None:
    """Of the newest release that has the field."""
    for direction in DIRECTIONS:
        entries: dict = {}
        for name in RELEASES:
            if release(name).versions(key, direction):
                entries |= release(name).fields(key, direction)
        assert_defaults(lookup.api(key).message(direction).fields, entries)


def assert_defaults(fields: tuple[lookup.Field, ...], entries: dict) -> None:
    for path, field, _ in roles.walk(lookup.Message("", fields)):
        if field.type == "struct" or field.is_array:
            wanted = "null" if entries[path].get("default") == "null" else None
            assert ("null" if field.default == "null" else None) == wanted, path
            continue
        theirs = entries[path].get("default")
        text = None if theirs in (None, "") else str(theirs).lower() if field.type == "bool" else str(theirs)
        assert default_value(field) == default_value(with_default(field, text)), path


def with_default(field: lookup.Field, text: str | None) -> lookup.Field:
    values = {name: getattr(field, name) for name in field.__slots__}
    return lookup.Field(**values | {"default": text})


# Where the version is no field of the struct: Apache's code writes it in front (embedded-schemas.md).
PREFIXED = {
    "ConsumerProtocolAssignment",
    "ConsumerProtocolSubscription",
    "ControlRecordTypeSchema",
    "DefaultPrincipalData",
    "EndTxnMarker",
}
# Described in 4.x only; the format is older.
NEW_DESCRIPTIONS = {"ControlRecordTypeSchema", "EndTxnMarker"}


@pytest.mark.parametrize("name", RELEASES)
@pytest.mark.parametrize("file", lookup.embedded_names())
def test_structs_inside_bytes_are_those_of_the_release(file: str, name: str) -> None:
    known, apache = lookup.embedded(file), release(name).structs
    assert known.has_prefix == (known.name in PREFIXED)
    if known.name not in apache:
        assert (name, known.name in NEW_DESCRIPTIONS) == ("3.9.1", True)
        return
    theirs = apache[known.name]
    assert known.versions == versions_of(theirs)
    for version in range(known.versions.first, known.versions.last + 1):
        ours = of_embedded(known, version)
        assert ("version | " in ours) == known.has_prefix
        assert ours.replace("version | ", "") == layout_of(theirs, version), f"{known.name} {version}"
    assert_defaults(known.fields, fields_of(theirs))


def test_layouts_are_the_committed_ones() -> None:
    """After a change that is meant: `python tests/unit/dissectors/kafka/schema/write_layouts.py`."""
    assert lines() == LAYOUTS.read_text().splitlines()
