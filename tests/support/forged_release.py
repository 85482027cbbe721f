"""A release of Kafka that does not exist: twenty APIs have one version more, and two keys are new.

What messages say where they begin stays: throttle time, error code, the client's software. Behind that a field is inserted, removed
or of another type. `forged` writes one message anew; `forged_capture` writes whole captures.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from encode import encode_fields, plain

from dissectors.kafka.messages.explain import explain
from dissectors.kafka.schema import lookup
from dissectors.kafka.schema.fields import Field, Span

# API key -> what its next version changes: a function of the fields.
CHANGED = {
    0: "text in elements", 1: "uuid for text", 2: "number goes", 3: "text in elements", 8: "uuid for text",
    9: "number inserted", 10: "text in elements", 11: "number goes", 12: "text inserted", 13: "text in elements",
    14: "text inserted", 15: "uuid for text", 18: "text in elements", 19: "text in elements", 22: "number goes",
    24: "uuid for text", 26: "wider number", 28: "uuid for text", 32: "text in elements", 68: "number inserted",
}  # fmt: skip
# DescribeCluster and ListGroups become APIs that nobody knows: how far beyond the greatest key.
UNKNOWN = {60: 1, 16: 2}
# What stands first and stays.
_FIRST = {"throttle_time_ms", "error_code", "client_software_name", "client_software_version"}


def forged_name(key: int, version: int) -> tuple[int, int]:
    """Key and version of what `forged` makes of a message."""
    api = lookup.api(key)
    assert api is not None
    if key in UNKNOWN:
        return max(lookup.known_keys()) + UNKNOWN[key], version
    return key, api.versions.last + 1 if key in CHANGED else version


def forged(key: int, version: int, direction: str, frame: bytes) -> bytes | None:
    """A message of the new release that says the same; the frame itself where its API did not change. None: it cannot be read."""
    if key not in CHANGED and key not in UNKNOWN:
        return frame
    found = explain(key, version, direction, frame)
    if found.error is not None or found.body is None or found.leftover_bytes or found.body_version != version:
        return None
    fields = _fields(key, direction)
    new_key, new_version = forged_name(key, version)
    written = tuple(_at_any(each) for each in fields)
    return encode_fields(
        new_key, new_version, direction, plain(found.header), _fitted(written, plain(found.body)), written, True
    )[0]


@cache
def _fields(key: int, direction: str) -> tuple[Field, ...]:
    """The fields of the newest known version, changed."""
    api = lookup.api(key)
    assert api is not None
    newest = tuple(_newest(api.message(direction).fields, api.versions.last))
    first = next((place for place, each in enumerate(newest) if each.name not in _FIRST), len(newest))
    change = CHANGED.get(key)
    if change is None:
        return newest
    if change.endswith("inserted"):
        more = _made("int32", "9") if change == "number inserted" else _made("string", "forged")
        return (*newest[:first], more, *newest[first:])
    changed = _changed(newest[first:], change)
    # A message in which there is nothing of that sort becomes longer.
    return (*newest, _made("string", "forged")) if changed is None else (*newest[:first], *changed)


def _changed(fields: tuple[Field, ...], change: str) -> tuple[Field, ...] | None:
    """The fields with the first one that can be changed so, at any depth; None: there is none."""
    for place, each in enumerate(fields):
        before, behind = fields[:place], fields[place + 1 :]
        if each.tag is not None:
            continue
        if change == "text in elements" and each.is_array and each.type == "struct":
            inside = (each.fields[0], _made("string", "forged"), *each.fields[1:])
            return (*before, replace(each, fields=inside), *behind)
        if change == "uuid for text" and each.type == "string" and not each.is_array:
            return (*before, replace(each, type="uuid", nullable=None, default=None), *behind)
        if change == "number goes" and each.type in ("int16", "int32", "int64") and not each.is_array:
            return before + behind
        if change == "wider number" and each.type in ("int16", "int32") and not each.is_array:
            return (*before, replace(each, type="int64"), *behind)
        inner = _changed(each.fields, change)
        if inner is not None:
            return (*before, replace(each, fields=inner), *behind)
    return None


def _newest(fields: tuple[Field, ...], version: int) -> Iterator[Field]:
    for each in fields:
        if version in each.versions:
            may_be_null = each.nullable is not None and version in each.nullable
            inside = tuple(_newest(each.fields, version))
            yield replace(each, fields=inside, nullable=Span(0, version) if may_be_null else None)


def _at_any(field: Field) -> Field:
    """The field as one that every version has."""
    any_version = Span(0, 32767)
    nullable = any_version if field.nullable is not None else None
    return replace(field, versions=any_version, nullable=nullable, fields=tuple(_at_any(each) for each in field.fields))


def _made(kind: str, default: str) -> Field:
    any_version = Span(0, 32767)
    return Field("forged", kind, False, any_version, None, None, (), None, default, "", (), 999)


def _fitted(fields: tuple[Field, ...], values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of those fields that are still there; a text that became a uuid is its digest."""
    found: dict[str, Any] = {"unknown_tags": values.get("unknown_tags", {})}
    for each in fields:
        if each.name not in values:
            continue
        value = values[each.name]
        if each.type == "struct" and each.is_array and value is not None:
            value = [_fitted(each.fields, element) for element in value]
        elif each.type == "struct" and value is not None:
            value = _fitted(each.fields, value)
        elif each.type == "uuid" and not isinstance(value, bytes) and not each.is_array:
            value = hashlib.md5((value or "").encode(), usedforsecurity=False).digest()
        found[each.name] = value
    return found
