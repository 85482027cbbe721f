"""Lab captures as a release that nobody knows would have spoken: nothing false is read, and requests are paired as before."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from forged_capture import forge_capture
from forged_release import CHANGED, UNKNOWN, forged_name
from transform import read_pcap, write_pcap

from analyzer.base.options import Options
from analyzer.query.dataset import Dataset
from analyzer.run.local import open_dataset

# What a message may still say; nobody knows the rest.
TOLD = ("throttle_time_ms", "error_code")
SOFTWARE = "SELECT connection, software_name, software_version FROM connections WHERE is_kafka ORDER BY connection"
MALFORMED = "SELECT count(*) AS n FROM problems WHERE kind = 'malformed_body'"
COLUMNS = (
    "connection, request_time_ns, response_time_ns, correlation_id, api_key, api_version, api_name, status, client_id, "
    "request_decoded, response_decoded, throttle_time_ms, error_code, error_count, topics, "
    "partitions, group_id, record_bytes"
)


def exchanges(dataset: Dataset) -> list[dict[str, Any]]:
    return dataset.query(f"SELECT {COLUMNS} FROM exchanges ORDER BY request_time_ns, connection, correlation_id")


def compare(capture: Path, folder: Path) -> Counter[str]:
    """Compares a capture with its forged self; returns how often what was told."""
    original = write_pcap(folder / "original.pcap", *read_pcap(capture))
    messages = forge_capture(capture, folder / "forged.pcap")
    with (
        open_dataset([str(original)], Options()) as before,
        open_dataset([str(folder / "forged.pcap")], Options()) as after,
    ):
        told = Counter(messages=messages)
        for old, new in zip(exchanges(before), exchanges(after), strict=True):
            told.update(differences(old, new))
        assert [as_newer(row) for row in before.query(SOFTWARE)] == after.query(SOFTWARE)
        newer = f"api_key IN ({', '.join(map(str, CHANGED))}) AND response_decoded = 'unsupported'"
        of_newer = f"SELECT e.code, x.api_key FROM errors AS e JOIN exchanges AS x USING (exchange) WHERE {newer}"
        for row in after.query(of_newer):
            told["error rows"] += 1
            assert row["code"] != 0
        assert not after.query(f"SELECT 1 AS one FROM entries JOIN exchanges AS x USING (exchange) WHERE {newer}")
        assert before.query(MALFORMED) == after.query(MALFORMED)
    return told


def as_newer(row: dict[str, Any]) -> dict[str, Any]:
    """The software of a connection; a name that KIP-511 does not allow proves nothing."""
    odd = row["software_name"] is not None and not row["software_name"][0].isalnum()
    return row | ({"software_name": None, "software_version": None} if odd else {})


def differences(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    key = old["api_key"]
    same = ("request_time_ns", "response_time_ns", "correlation_id", "status", "client_id")
    assert [old[name] for name in same] == [new[name] for name in same], (old, new)
    if new["request_decoded"] == old["request_decoded"]:
        assert new == old | {"connection": new["connection"]}
        return ["unchanged"]
    assert (new["api_key"], new["api_version"]) == forged_name(key, old["api_version"])
    assert new["api_name"] == (f"key {new['api_key']}" if key in UNKNOWN else old["api_name"])
    assert new["response_decoded"] in ("unsupported", "none")
    for name in ("error_count", "topics", "partitions", "group_id", "record_bytes"):
        assert new[name] is None, (name, new)
    # A message of a version without throttle time got one of 0 when it was written anew.
    assert all(
        new[name] in (None, old[name], 0 if name == "throttle_time_ms" and old[name] is None else None) for name in TOLD
    )
    assert new["error_code"] != 0
    return ["newer", *(name for name in TOLD if new[name] is not None)]


@pytest.mark.parametrize("name", ["basics.pcap.zst", "groups_classic.pcap.zst", "groups_848.pcap", "errors.pcap"])
def test_a_release_that_nobody_knows(name: str, shared: Path, tmp_path: Path) -> None:
    told = compare(shared / "captures" / "lab" / name, tmp_path)
    assert told["newer"] > 0.4 * told["messages"] > 0
    print(dict(told))
    assert told["throttle_time_ms"] > 0.3 * told["newer"]
