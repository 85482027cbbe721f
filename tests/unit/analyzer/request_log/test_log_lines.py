"""Lines of brokers' request logs: what is read of each form, and that no line, however damaged, does more than not count."""

from __future__ import annotations

import gzip
import json
import random
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import cramjam
import pyarrow.parquet as pq
import pytest

from analyzer.request_log import log_reader as reader
from analyzer.request_log.log_lines import LineReader, NotARequest, Unreadable
from analyzer.request_log.text_bodies import body

DATA = Path(__file__).resolve().parents[3] / "data" / "request_logs"
NAMES = tuple(reader.COLUMNS)[2:]
OLD = bytes(cramjam.zstd.decompress((DATA / "kafka_241.log.zst").read_bytes()))
NEW = gzip.decompress((DATA / "kafka_391.log.gz").read_bytes())

row = LineReader().row


def values(line: bytes) -> dict[str, Any]:
    return dict(zip(NAMES, row(line), strict=True))


def lines(text: bytes, word: bytes) -> list[bytes]:
    return [line for line in text.splitlines() if word in line]


def written(**changes: Any) -> bytes:
    """A line as a broker of 4.x writes it."""
    header = {"requestApiKey": 3, "requestApiVersion": 13, "correlationId": 7, "clientId": "shop"}
    found = {"isForwarded": False, "requestHeader": header, "request": {"topics": [{"name": "orders"}]}, "response": {}}
    found |= {"connection": "10.0.0.1:9092-10.0.0.2:40000-1-0", "totalTimeMs": 2.5, "requestQueueTimeMs": 0.25}
    found |= {
        "localTimeMs": 2,
        "remoteTimeMs": 0.0,
        "throttleTimeMs": 0,
        "responseQueueTimeMs": 0.125,
        "sendTimeMs": 0.125,
    }
    found |= {"securityProtocol": "SASL_SSL", "principal": "User:ann", "listener": "OUT"}
    return b"[2026-05-01 12:00:00,250] DEBUG Completed request:" + json.dumps(found | changes).encode()


def moment(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * 10**9


def test_a_line_of_json() -> None:
    found = values(written() + b" (kafka.request.logger)")
    assert found == {
        "logged_ns": moment("2026-05-01T12:00:00") + 250_000_000,
        "broker_address": "10.0.0.1",
        "broker_port": 9092,
        "client_address": "10.0.0.2",
        "client_port": 40000,
        "api_key": 3,
        "api_name": "Metadata",
        "api_version": 13,
        "correlation_id": 7,
        "client_id": "shop",
        "is_forwarded": False,
        "total_ns": 2_500_000,
        "queue_ns": 250_000,
        "local_ns": 2_000_000,
        "remote_ns": 0,
        "throttle_ns": 0,
        "response_queue_ns": 125_000,
        "send_ns": 125_000,
        "security_protocol": "SASL_SSL",
        "principal": "User:ann",
        "listener": "OUT",
        "topic": None,
    }


def test_lines_of_real_brokers_give_what_stands_in_them() -> None:
    """Of 2.4.1 as text, of 3.9.1 as JSON; the first also with a line that log4j itself wrote."""
    fetch = values(lines(OLD, b"apiKey=FETCH")[0])
    assert (fetch["client_id"], fetch["api_key"], fetch["api_version"], fetch["correlation_id"]) == (
        "consumer-old-readers-1",
        1,
        11,
        12,
    )
    assert (fetch["topic"], fetch["listener"], fetch["principal"]) == ("old-orders", "PLAINTEXT", "User:ANONYMOUS")
    assert f"{fetch['total_ns'] / 1e6}".encode() in lines(OLD, b"apiKey=FETCH")[0].rsplit(b" from connection ", 1)[1]
    for line in lines(NEW, b"Completed request:"):
        told = json.loads(line[line.index(b"{") : line.rindex(b"}") + 1])
        found = values(line)
        assert found["correlation_id"] == told["requestHeader"]["correlationId"]
        assert found["local_ns"] == round(told["localTimeMs"] * 1e6)
        assert found["is_forwarded"] is told["isForwarded"]


def test_a_line_with_its_bodies_is_the_same_row() -> None:
    read = LineReader()
    behind = [written() + b" {a}", written() + b"}", written(clientInformation={"softwareName": "}"})]
    for line in (*lines(OLD, b"Completed request:"), *lines(NEW, b"Completed request:"), *behind):
        assert read.logged(line).values[:-1] == read.row(line)[:-1]


def test_a_line_keeps_its_bodies_while_another_reader_is_at_work() -> None:
    one, another = LineReader(), LineReader()
    found = one.logged(written(request={"topics": [{"name": "orders"}]}))
    another.logged(written(request={"x": 1}))
    assert found.request is not None and json.loads(found.request.text()) == {"topics": [{"name": "orders"}]}


def test_parts_of_a_log_that_are_no_request() -> None:
    with pytest.raises(NotARequest):
        row(OLD.splitlines()[0])
    with pytest.raises(NotARequest):
        row(b"")


def test_the_moment_nearest_to_the_request_counts_with_its_zone() -> None:
    behind = b"2026-05-01T10:00:00.123456789Z stdout F " + written()
    assert values(behind)["logged_ns"] == moment("2026-05-01T12:00:00") + 250_000_000
    zoned = written().replace(b"12:00:00,250", b"12:00:00.250+05:30")
    assert values(zoned)["logged_ns"] == moment("2026-05-01T06:30:00") + 250_000_000


def test_order_of_keys_and_words_within_texts_do_not_matter() -> None:
    text = written(
        principal='User:",request":{,"connection":"x', clientInformation={"softwareName": ',"connection":"y'}
    )
    assert values(text)["principal"] == 'User:",request":{,"connection":"x'
    told = json.loads(text[text.index(b"{") :])
    turned = text[: text.index(b"{")] + json.dumps(dict(reversed(told.items()))).encode()
    assert values(turned) == values(text)


def test_addresses_are_those_of_packets() -> None:
    found = values(written(connection="0:0:0:0:0:0:0:1:9092-0:0:0:0:0:ffff:a00:2:40000-5-3"))
    assert (found["broker_address"], found["client_address"], found["client_port"]) == ("::1", "10.0.0.2", 40000)


@pytest.mark.parametrize(
    "change",
    [
        {"connection": "10.0.0.1:9092"},
        {"connection": "host:9092-10.0.0.2:1-0"},
        {"connection": "10.0.0.1:99999-10.0.0.2:1-0"},
        {"connection": 5},
        {"totalTimeMs": "1"},
        {"totalTimeMs": None},
        {"totalTimeMs": -1},
        {"totalTimeMs": 1e300},
        {"requestHeader": []},
        {"requestHeader": {"requestApiKey": 1 << 40, "requestApiVersion": 1, "correlationId": 1}},
        {"requestHeader": {"requestApiKey": 1.5, "requestApiVersion": 1, "correlationId": 1}},
    ],
)
def test_what_no_broker_writes_is_unreadable(change: dict[str, Any]) -> None:
    with pytest.raises(Unreadable):
        row(written(**change))


def test_half_a_pair_of_surrogates_becomes_a_text() -> None:
    line = written(
        principal="User:\ud800", requestHeader={"requestApiKey": 3, "requestApiVersion": 1, "correlationId": 1}
    )
    assert values(line)["principal"] == "User:?"
    assert values(line)["client_id"] is None


def test_no_damage_to_a_line_does_more_than_not_count() -> None:
    chance = random.Random(57)
    sound = [*lines(OLD, b"Completed request:"), *lines(NEW, b"Completed request:"), written()]
    read = 0
    for _ in range(4_000):
        line = bytearray(chance.choice(sound))
        for _ in range(chance.randint(1, 4)):
            at = chance.randrange(len(line))
            change = chance.randrange(4)
            if change == 0:
                line[at] = chance.randrange(256)
            elif change == 1:
                del line[at : at + chance.randint(1, 200)]
            elif change == 2:
                line[at:at] = chance.choice((b'"', b"}", b"{", b"\\", b"9" * 400, b"\xff", b'"connection":"'))
            else:
                del line[at:]
            if not line:
                break
        try:
            found = row(bytes(line))
        except (NotARequest, Unreadable):
            continue
        read += 1
        assert len(found) == len(NAMES)
    assert read > 500


def test_a_file_counts_what_it_could_not_read(tmp_path: Path) -> None:
    log, target = tmp_path / "requests.log", tmp_path / "rows.parquet"
    log.write_bytes(b"starting\n" + written() + b"\nCompleted request:{}\n" + written() + b"\r\nCompleted request:x")
    (file,) = reader.read_logs([log], target)
    assert (file.requests, file.unreadable, file.first_unreadable) == (2, 2, 3)
    assert pq.read_table(target)["line"].to_pylist() == [2, 4]
    (told,) = file.warnings()
    assert told.startswith(f"{log}: 2 lines are no request of a broker") and "line 3" in told


def test_a_line_without_an_end_takes_no_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "LONGEST_LINE", 3 << 20)
    log = tmp_path / "requests.log"
    log.write_bytes(b"Completed request:" + b"x" * (9 << 20) + b"\n" + written() + b"\n")
    target = tmp_path / "rows.parquet"
    (file,) = reader.read_logs([log], target)
    assert (file.requests, file.unreadable) == (1, 1)
    assert pq.read_table(target)["line"].to_pylist() == [2]


@pytest.mark.parametrize(
    "blocks",
    [
        [b"a\n", b"0123", b"456789\n", b"b\n\nc"],
        [b"a\n012345", b"6789\nb\n\n", b"c"],
        [b"a\n0123456789", b"\n", b"b\n", b"\nc"],
    ],
)
def test_lines_have_their_numbers_wherever_blocks_end(
    blocks: list[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second is too long."""
    monkeypatch.setattr(reader, "LONGEST_LINE", 8)
    monkeypatch.setattr(reader.Source, "blocks", lambda _: iter(blocks))
    found = reader.lines_of(reader.Source("x", tmp_path), reader.LogFile("x"))
    assert list(found) == [b"a", None, b"b", b"", b"c"]


def test_a_word_of_a_body_that_has_no_end_is_read_once() -> None:
    """From each of its letters on it would take hours."""
    word = b"q" * (1 << 20)
    assert body(b"{a=1,b=" + word + b",c=[" + word + b"]}") == b'{"a":1,"b":"' + word + b'","c":["' + word + b'"]}'
    assert body(b"{" + word + b"}") == b"{" + word + b"}"


def test_what_is_no_log_is_said(tmp_path: Path) -> None:
    log = tmp_path / "x.gz"
    log.write_bytes(gzip.compress(written() * 50)[:-30])
    (file,) = reader.read_logs([log], tmp_path / "rows.parquet")
    assert file.failure
    log.write_bytes(b"nothing\n" * 5)
    (file,) = reader.read_logs([log], tmp_path / "rows.parquet")
    assert ["no request of a broker" in line for line in file.warnings()] == [True]


def test_nothing_of_the_bodies_is_kept() -> None:
    """Tokens and their HMACs are in bodies of the log."""
    line = written(
        request={"hmac": "c2VjcmV0", "name": "c2VjcmV0"}, response={"hmac": "c2VjcmV0", "tokenId": "c2VjcmV0"}
    )
    for key in range(100):
        header = {"requestApiKey": key, "requestApiVersion": 1, "correlationId": 1}
        told = json.loads(line[line.index(b"{") :]) | {"requestHeader": header, "request": {"hmac": "c2VjcmV0"}}
        text = line[: line.index(b"{")] + json.dumps(told).encode()
        assert "c2VjcmV0" not in map(str, row(text))
