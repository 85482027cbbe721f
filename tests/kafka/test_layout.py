"""Every schema file against Apache's field lists of two releases, at every version; and against committed layouts."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

import pytest
from layouts import Release, of_schema
from write_layouts import TARGET, lines

from dissectors.kafka import roles, schema
from dissectors.kafka.explain import default_value

if TYPE_CHECKING:
    from pathlib import Path

KEYS = schema.readable_keys()
DIRECTIONS = ("request", "response")

# Same version, other wire in the two releases: the older was unstable, ours is the newer.
OTHER_WIRE = {("3.9.1", 87, 0)}
# Same wire, other names: ours are those of the newer release.
OTHER_NAMES = {("3.9.1", 52), ("3.9.1", 74)}


@cache
def release(shared: Path, name: str) -> Release:
    return Release(shared / "reference" / f"kafka-messages-{name}")


def without_names(layout: str) -> str:
    return re.sub(r"\w+:(?=\[|\(|\w)", "", layout)


@pytest.mark.parametrize("name", ["3.9.1", "4.3.1"])
@pytest.mark.parametrize("key", KEYS)
def test_layout_is_that_of_the_release(shared: Path, key: int, name: str) -> None:
    api = schema.api(key)
    apache = release(shared, name)
    for direction in DIRECTIONS:
        versions = apache.versions(key, direction)
        for version in range(versions.first, versions.last + 1) if versions else ():
            if (name, key, version) in OTHER_WIRE:
                continue
            theirs, ours = apache.layout(key, direction, version), of_schema(api, direction, version)
            if (name, key) in OTHER_NAMES:
                theirs, ours = without_names(theirs), without_names(ours)
            assert ours == theirs, f"{api.name} {direction} v{version}"


@pytest.mark.parametrize("key", KEYS)
def test_versions_are_those_of_both_releases(shared: Path, key: int) -> None:
    api = schema.api(key)
    found: set[int] = set()
    for name in ("3.9.1", "4.3.1"):
        for direction in DIRECTIONS:
            span = release(shared, name).versions(key, direction)
            found |= set(range(span.first, span.last + 1)) if span else set()
    assert found == set(range(api.versions.first, api.versions.last + 1))


@pytest.mark.parametrize("key", KEYS)
def test_gone_versions_are_those_that_the_newer_release_lacks(shared: Path, key: int) -> None:
    api = schema.api(key)
    newer, older = (release(shared, name).versions(key, "request") for name in ("4.3.1", "3.9.1"))
    kept = set(range(newer.first, newer.last + 1)) if newer else set()
    had = set(range(older.first, older.last + 1)) if older else set()
    gone = set(range(api.gone.first, min(api.gone.last, api.versions.last) + 1)) if api.gone else set()
    unstable = set(range(api.unstable.first, api.unstable.last + 1)) if api.unstable else set()
    assert gone | (unstable - kept) == had - kept


@pytest.mark.parametrize("key", KEYS)
def test_defaults_are_those_of_apache(shared: Path, key: int) -> None:
    """Of the newest release that has the field."""
    for direction in DIRECTIONS:
        entries: dict = {}
        for name in ("3.9.1", "4.3.1"):
            if release(shared, name).versions(key, direction):
                entries |= release(shared, name).fields(key, direction)
        for path, field, _ in roles.walk(schema.api(key).message(direction)):
            if field.type == "struct" or field.is_array:
                wanted = "null" if entries[path].get("default") == "null" else None
                assert ("null" if field.default == "null" else None) == wanted, path
                continue
            theirs = entries[path].get("default")
            text = None if theirs in (None, "") else str(theirs).lower() if field.type == "bool" else str(theirs)
            assert default_value(field) == default_value(with_default(field, text)), path


def with_default(field: schema.Field, text: str | None) -> schema.Field:
    values = {name: getattr(field, name) for name in field.__slots__}
    return schema.Field(**values | {"default": text})


def test_layouts_are_the_committed_ones() -> None:
    """After a change that is meant: `python tests/kafka/write_layouts.py`."""
    assert lines() == TARGET.read_text().splitlines()
