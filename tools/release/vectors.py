"""Vectors: messages by chance, written by the encoder of a release (`tests/data/kafka/README.md` has the format)."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any, NamedTuple

from dissectors.kafka.messages.explain import Node, Struct, explain
from tools.release.apache import valid_versions, wire
from tools.release.jar import Jar
from tools.release.messages import Maker, Pool

PROFILES = ("sparse", "full", "random")
DIRECTIONS = ("request", "response")
Messages = dict[tuple[int, str], dict[str, Any]]


class Kind(NamedTuple):
    key: int
    version: int
    direction: str


def kind_of(vector: dict[str, Any]) -> Kind:
    return Kind(vector["api_key"], vector["version"], vector["direction"])


def by_key(messages: list[dict[str, Any]]) -> Messages:
    """(key, direction) -> the field list."""
    return {(each["apiKey"], each["type"]): each for each in messages if each["type"] in DIRECTIONS}


def kinds(messages: Messages) -> list[Kind]:
    """Everything that a release reads and writes."""
    found = [Kind(key, version, way) for (key, way), each in messages.items() for version in valid_versions(each)]
    return sorted(found)


def changed(messages: Messages, before: Messages) -> set[Kind]:
    """What the release before lacks, or writes or calls in another way."""
    known = set(kinds(before))
    return {
        kind
        for kind in kinds(messages)
        if kind not in known
        or wire(messages[kind.key, kind.direction], kind.version)
        != wire(before[kind.key, kind.direction], kind.version)
    }


def pools(vectors: list[dict[str, Any]]) -> dict[tuple[int, str], Pool]:
    """Records that releases wrote, with what their own reader told of them, of the newest version of each API that has some."""
    found: dict[tuple[int, str], tuple[int, Pool]] = {}
    for vector in vectors:
        accounts = [each for each in vector.get("records", ()) if not each.get("unaligned") and not each.get("partial")]
        if not accounts or len(accounts) != len(vector["records"]):
            continue
        place = (vector["api_key"], vector["direction"])
        newest, pool = found.get(place, (-1, []))
        if vector["version"] > newest:
            newest, pool = vector["version"], []
        if vector["version"] == newest:
            body = explain(vector["api_key"], vector["version"], vector["direction"], bytes.fromhex(vector["hex"])).body
            pool += zip(_records(body), accounts, strict=True)
            found[place] = (newest, pool)
    return {place: pool for place, (_, pool) in found.items()}


def _records(struct: Struct | None) -> Iterator[bytes]:
    for node in struct.fields.values() if struct else ():
        for each in node.value if isinstance(node.value, list) else [node]:
            if isinstance(each, Node) and isinstance(each.value, Struct):
                yield from _records(each.value)
            elif each.field is not None and each.field.type == "records" and each.value is not None:
                yield bytes(each.value)


def written(
    jar: Jar, wanted: list[Kind], messages: Messages, headers: dict[int, list[Any]], known: dict
) -> list[dict[str, Any]]:
    """Three messages of each kind. `headers`: key -> first version, header versions; `known`: what `pools` gives."""
    made = (
        _made(jar.release, kind, index, messages, headers, known) for kind in wanted for index in range(len(PROFILES))
    )
    return [{name: value for name, value in row.items() if value != []} for row in jar.encode(made)]


def _made(
    release: str, kind: Kind, index: int, messages: Messages, headers: dict[int, list[Any]], known: dict
) -> dict[str, Any]:
    message = messages[kind.key, kind.direction]
    together = Random(f"{release} {kind.key} {kind.version} {index}")
    chance = Random(f"{release} {kind} {index}")
    maker = Maker(message, kind.version, index, chance, known.get((kind.key, kind.direction), []))
    first, versions = headers[kind.key]
    is_request = kind.direction == "request"
    header = versions[kind.version - first][0 if is_request else 1]
    row = {
        "origin": release,
        "index": index,
        "api_key": kind.key,
        "api_name": message["name"].removesuffix(kind.direction.title()),
    }
    row |= {"version": kind.version, "direction": kind.direction, "correlation_id": together.getrandbits(24)}
    if message.get("latestVersionUnstable") and kind.version == max(valid_versions(message)):
        row["unstable"] = True
    if is_request:
        row["client_id"] = None if index == 0 or header == 0 else chance.choice(("", "app", "shop-1", "client-äß"))
    row |= {"profile": PROFILES[index], "body": maker.body(), "unknown_tags": maker.tags, "records": maker.records}
    return row | {"header_unknown_tags": maker.tags_nobody_knows() if header >= (2 if is_request else 1) else []}
