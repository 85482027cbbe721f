"""The messages that Apache's encoder wrote, and its JSON turned into ours."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from kafka_reference import packed_lines

if TYPE_CHECKING:
    pass

# Same version and wire, another name since 4.4.0, which is ours: (key, newest such version, older name) -> name.
RENAMED = {
    (28, 5, "generationId"): "generationIdOrMemberEpoch",
    (88, 0, "acceptableRecoveryLag"): "acceptableRecoveryLagLegacy",
}


@cache
def vectors(release: str) -> list[dict[str, Any]]:
    """Every vector of a release, fields by the names of the newest."""
    found = packed_lines(f"vectors-{release}.jsonl.zst")
    for vector in found:
        for (key, newest, older), name in RENAMED.items():
            if key == vector["api_key"] and vector["version"] <= newest and older in vector["body"]:
                vector["body"][name] = vector["body"].pop(older)
    return found


def name_of(vector: dict[str, Any]) -> str:
    """What a failure is called."""
    return f"{vector['api_name']} v{vector['version']} {vector['direction']} {vector['origin']}/{vector['index']}"


@cache
def snake(camel: str) -> str:
    """fooBarBaz -> foo_bar_baz; isKRaft -> is_k_raft."""
    return re.sub(r"(?<=[a-z0-9])([A-Z])|(?<=[A-Z])([A-Z])(?=[a-z])", r"_\1\2", camel).lower()


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
