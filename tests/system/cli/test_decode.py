"""`kanalyze decode`: a line out for a line in."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from typing import Any

from kanalyze_process import COMMAND
from paths import ROOT

Run = Callable[..., Any]

# ApiVersions v0, correlation id 1, client id "abc": by hand, from the protocol guide.
FRAME = "00120000000000010003616263"
ASKED = b'{"api_key": 18, "version": 0, "direction": "request", "hex": "%s"}' % FRAME.encode()
ANSWER = {
    "header": {"request_api_key": 18, "request_api_version": 0, "correlation_id": 1, "client_id": "abc"},
    "body": {},
    "leftover_bytes": 0,
    "notes": [],
}


def answers(done: Any) -> list[Any]:
    assert done.returncode == 0 and done.stderr == b"", done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_lines_in_order_and_bad_ones_answered_in_their_place(kanalyze: Run) -> None:
    bad = [b"nonsense", b"", b"[1]", b"\xff\xfe", b"[" * 100_000, b'{"api_key": "18"}', b"1" * 5000, b"null"]
    lines = [line for each in bad for line in (ASKED, each)]
    for end in (b"\n", b""):
        found = answers(kanalyze("decode", stdin=b"\n".join([*lines, ASKED]) + end))
        assert found[::2] == [ANSWER] * (len(bad) + 1)
        assert [sorted(each) for each in found[1::2]] == [["body", "error", "header"]] * len(bad)
        assert {each["error"]["kind"] for each in found[1::2]} == {"usage"}


def test_nothing_in_nothing_out(kanalyze: Run) -> None:
    assert answers(kanalyze("decode")) == []


def test_a_file_is_read_like_standard_input(kanalyze: Run, tmp_path: Any) -> None:
    (tmp_path / "lines.jsonl").write_bytes(ASKED + b"\r\n")
    assert answers(kanalyze("decode", "lines.jsonl")) == [ANSWER]


def test_hostile_text_is_escaped(kanalyze: Run) -> None:
    """A client id with ESC, CSI and a direction mark, which JSON alone would let through in part."""
    name = "\x1b\x9b\u202e".encode()
    frame = bytes.fromhex(FRAME[:16]) + len(name).to_bytes(2, "big") + name
    line = {"api_key": 18, "version": 0, "direction": "request", "hex": frame.hex()}
    done = kanalyze("decode", stdin=json.dumps(line).encode())
    assert answers(done)[0]["header"]["client_id"] == "\x1b\x9b\u202e"
    assert not set(done.stdout.decode()) & set("\x1b\x9b\u202e")


def test_a_conversation_through_two_pipes() -> None:
    """Each question is answered before the next is asked."""
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen([*COMMAND, "decode"], stdin=-1, stdout=-1, env=env) as process:
        assert process.stdin is not None and process.stdout is not None
        for _ in range(3):
            process.stdin.write(ASKED + b"\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline()) == ANSWER
        process.stdin.write(ASKED[:20])
        process.stdin.flush()
        process.stdin.write(ASKED[20:])
        process.stdin.close()
        assert json.loads(process.stdout.read()) == ANSWER
        assert process.wait(30) == 0


def test_records_on_request(kanalyze: Run) -> None:
    """Produce v3 with one record batch of two records, from the vectors' format: built here by kafka-python."""
    from kafka.record.memory_records import MemoryRecordsBuilder

    builder = MemoryRecordsBuilder(magic=2, compression_type=0, batch_size=4096)
    for value in (b"one", b"two"):
        builder.append(timestamp=1000, key=b"k", value=value, headers=[])
    builder.close()
    records = bytes(builder.buffer())
    body = b"\xff\xff" + b"\x00\x01" + b"\x00\x00\x03\xe8" + b"\x00\x00\x00\x01" + b"\x00\x01t"
    body += b"\x00\x00\x00\x01" + b"\x00\x00\x00\x00" + len(records).to_bytes(4, "big") + records
    frame = b"\x00\x00\x00\x03\x00\x00\x00\x07\x00\x01c" + body
    line = json.dumps({"api_key": 0, "version": 3, "direction": "request", "hex": frame.hex()}).encode()
    plain, full = (answers(kanalyze("decode", *more, stdin=line))[0] for more in ([], ["--records"]))
    (batch,) = plain["body"]["topic_data"][0]["partition_data"][0]["records"]["batches"]
    assert batch["count"] == 2 and "records" not in batch
    (batch,) = full["body"]["topic_data"][0]["partition_data"][0]["records"]["batches"]
    assert [record["value"] for record in batch["records"]] == ["b25l", "dHdv"]
