"""The judges are judged: told the truth they find nothing, and each kind of lie is found.

The truth here is a capture's frame list with the log's own words for what only a body tells; the program does not run.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from agreement import Exchange, exchange_reasons, frame_differences, line_reasons, log_differences, match
from oracle import Capture, FrameRow, LogLine, connection, error_codes, read_frames, read_log
from paths import LAB, SAMPLES
from program import found_captures
from transform import borders, doubled, overlapping, read_pcap, sent_again, shuffled, shuffled_each_way

THROTTLE = next(capture for capture in found_captures() if capture.name == "throttle")


def exchange(row: FrameRow) -> Exchange:
    broker, client = row.connection.rsplit("-", 1)
    broker_address, broker_port = broker.rsplit(":", 1)
    client_address, client_port = client.rsplit(":", 1)
    return {
        "broker_address": broker_address,
        "broker_port": int(broker_port),
        "client_address": client_address,
        "client_port": int(client_port),
        "correlation_id": row.correlation_id,
        "api_key": row.api_key,
        "api_version": row.api_version,
        "client_id": None,
        "request_bytes": row.request_bytes + 4,
        "response_bytes": None if row.response_bytes is None else row.response_bytes + 4,
        "request_time_ns": row.request_first_ns,
        "request_end_ns": row.request_last_ns,
        "response_time_ns": row.response_first_ns,
        "response_end_ns": row.response_last_ns,
        "status": "pending" if row.response_bytes is None else "answered",
        "kind": None,
    }


def from_log(line: LogLine) -> dict[str, Any]:
    return {
        "client_id": line.client_id or None,
        "throttle_time_ms": line.throttle_time_ms,
        "error_codes": list(line.errors),
        "error_count": len(line.errors),
        "error_code": line.errors[0] if line.errors else 0,
        "request_decoded": "full",
        "response_decoded": "full",
    }


def truth(capture: Capture) -> list[Exchange]:
    rows = [exchange(row) for row in read_frames(capture.frames)]
    for line, row in match(rows, read_log(capture.log)).pairs:
        row.update(from_log(line))
        if not line.answered:
            row["status"] = "no_reply_expected"
    return rows


def log_complaints(rows: list[Exchange]) -> list[str]:
    found = match(rows, read_log(THROTTLE.log))
    return [text for line, row in found.pairs for text in log_differences(line, row)]


def test_truth_agrees_with_log_and_frame_list(logged: Capture) -> None:
    rows = truth(logged)
    found = match(rows, read_log(logged.log))
    assert len(found.pairs) == logged.fact("matched")
    assert not [text for line, row in found.pairs for text in log_differences(line, row)]
    assert "unexplained" not in line_reasons(found) + exchange_reasons(found)
    assert not list(frame_differences(rows, read_frames(logged.frames)))


@pytest.mark.parametrize(
    ("column", "lie"),
    [
        ("api_version", 99),
        ("client_id", "somebody else"),
        ("throttle_time_ms", 1),
        ("throttle_time_ms", None),
        ("error_code", 7),
        ("error_codes", [7]),
        ("error_count", 2),
        ("response_decoded", "truncated"),
        ("status", "pending"),
    ],
)
def test_a_lie_about_one_request_is_found_in_the_log(column: str, lie: object) -> None:
    rows = truth(THROTTLE)
    throttled = next(row for row in rows if row.get("throttle_time_ms") and row["api_key"] == 0)
    throttled[column] = lie
    assert [text for text in log_complaints(rows) if text.startswith(column.replace("_codes", " codes"))]


@pytest.mark.parametrize(
    "column", ["correlation_id", "request_bytes", "response_bytes", "request_end_ns", "response_time_ns"]
)
def test_a_lie_about_one_frame_is_found_in_the_frame_list(column: str) -> None:
    rows = truth(THROTTLE)
    rows[100][column] += 1
    complaints = list(frame_differences(rows, read_frames(THROTTLE.frames)))
    assert [text.split(":")[0] for text in complaints] == ["missing", "invented"]


def test_a_missing_request_and_an_orphaned_reply_are_found() -> None:
    rows, frames = truth(THROTTLE), read_frames(THROTTLE.frames)
    at = next(place for place, row in enumerate(rows) if row["api_key"] == 0)
    assert line_reasons(match(rows[:at] + rows[at + 1 :], read_log(THROTTLE.log)))["unexplained"] == 1
    assert len(list(frame_differences(rows[:at] + rows[at + 1 :], frames))) == 1
    orphan = {**rows[at], "status": "orphan_reply"}
    assert len(list(frame_differences([*rows, orphan], frames))) == 1


def test_an_invented_request_is_found() -> None:
    rows = truth(THROTTLE)
    invented = {**rows[200], "correlation_id": 123_456}
    assert exchange_reasons(match([*rows, invented], read_log(THROTTLE.log)))["unexplained"] == 1


def test_connection_names_have_one_form() -> None:
    assert connection("0:0:0:0:0:0:0:1:9094-0:0:0:0:0:0:0:1:44888-5-5") == connection("::1:9094-::1:44888")
    assert connection("127.0.2.1:9592-127.0.0.1:55180-0") == "127.0.2.1:9592-127.0.0.1:55180"
    with pytest.raises(ValueError, match="no connection"):
        connection("nonsense")


@pytest.mark.skipif(not LAB.is_dir(), reason="no shared captures beside the checkout")
def test_error_codes_of_the_log_are_those_of_its_summary(logged: Capture) -> None:
    """TRUTH.json was counted by those who made the captures."""
    counted = Counter(code for line in read_log(logged.log) for code in line.errors)
    summary = json.loads((LAB / "TRUTH.json").read_text())[logged.name]["errors"]
    assert counted == Counter({int(name.split()[0]): count for name, count in summary.items()})


def test_error_codes_at_any_depth() -> None:
    body = {
        "errorCode": 3,
        "topics": [{"acknowledgeErrorCode": 5, "partitions": [{"errorCode": 0}, {"errorCode": -1}]}],
    }
    assert list(error_codes(body)) == [3, 5, -1]


def streams(path: Path, change: Any = None) -> dict[bytes, dict[int, int]]:
    """Every byte of every direction by its sequence number: what a rewritten capture must not change."""
    packets = read_pcap(path)[1]
    found: dict[bytes, dict[int, int]] = {}
    for packet in change(packets) if change else packets:
        at = borders(packet)
        if at is None:
            continue
        data = packet.data
        addresses = data[at.ip + 8 : at.ip + 40] if data[at.ip] >> 4 == 6 else data[at.ip + 12 : at.ip + 20]
        sequence = int.from_bytes(data[at.tcp + 4 : at.tcp + 8], "big")
        bytes_of_it = found.setdefault(addresses + data[at.tcp : at.tcp + 4], {})
        for place, byte in enumerate(data[at.payload : at.end]):
            assert bytes_of_it.setdefault((sequence + place) & 0xFFFFFFFF, byte) == byte
    return found


@pytest.mark.parametrize("name", ["sweep_43", "transactions"])
def test_rewriting_keeps_every_byte(name: str) -> None:
    path = SAMPLES / f"{name}.pcap.zst"
    want = streams(path)
    assert want
    for change in (doubled, sent_again):
        assert streams(path, change) == want
    for seeded in (shuffled, shuffled_each_way, overlapping):
        assert streams(path, lambda packets, seeded=seeded: list(seeded(packets, seed=5))) == want


@pytest.mark.parametrize("name", ["sweep_43", "throttle", "groups_classic"])
def test_shuffling_moves_packets_but_not_far(name: str) -> None:
    packets = read_pcap(SAMPLES / f"{name}.pcap.zst")[1]
    place = {id(packet): number for number, packet in enumerate(packets)}
    moves = [abs(place[id(packet)] - number) for number, packet in enumerate(shuffled(packets, seed=1))]
    assert max(moves) == 3
    assert sum(move > 0 for move in moves) > len(packets) // 3
    each_way = [place[id(packet)] for packet in shuffled_each_way(packets, seed=1)]
    assert sorted(each_way) == list(range(len(packets)))
    assert sum(number != at for number, at in enumerate(each_way)) > 30
