"""The messages that Apache's encoder wrote, and its JSON turned into ours."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from kafka_reference import newer_names, packed_lines

from tools.release.apache import snake

if TYPE_CHECKING:
    pass


@cache
def vectors(release: str) -> list[dict[str, Any]]:
    """Every vector of a release, fields by the names of the newest."""
    found = packed_lines(f"vectors-{release}.jsonl.zst")
    for vector in found:
        if names := newer_names(release, vector["api_key"], vector["direction"], vector["version"]):
            vector["body"] = renamed(vector["body"], names)
    return found


def renamed(value: Any, names: dict[str, str]) -> Any:
    """Apache's JSON with the names that a later release gave to the same bytes."""
    if isinstance(value, list):
        return [renamed(each, names) for each in value]
    if isinstance(value, dict):
        return {names.get(snake(name), name): renamed(inner, names) for name, inner in value.items()}
    return value


def name_of(vector: dict[str, Any]) -> str:
    """What a failure is called."""
    return f"{vector['api_name']} v{vector['version']} {vector['direction']} {vector['origin']}/{vector['index']}"


def snake_path(path: str) -> str:
    """topicData[0].partitionData[1].records -> topic_data[0].partition_data[1].records."""
    return ".".join(snake(part) for part in path.split("."))


def ours(value: Any) -> Any:
    """Apache's JSON with our names, and `records` as their size."""
    if isinstance(value, list):
        return [ours(each) for each in value]
    if not isinstance(value, dict):
        return value
    found = {}
    for name, inner in value.items():
        if name.endswith("SizeInBytes") and name.removesuffix("SizeInBytes") in ("records", "unalignedRecords"):
            found[snake(name.removesuffix("SizeInBytes"))] = {"size_bytes": inner}
        else:
            found[snake(name)] = ours(inner)
    return found
