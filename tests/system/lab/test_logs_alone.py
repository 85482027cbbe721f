"""A broker's log of requests without a capture: what it says of each request is what the packets of that request say."""

from __future__ import annotations

import gzip
import os
import random
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import cramjam
import pytest
from oracle import Capture

from analyzer.base.options import Options
from analyzer.cli.main import main
from analyzer.query.dataset import Dataset
from analyzer.request_log import log_exchanges, log_facts
from analyzer.request_log.log_facts import LogFacts, Told
from analyzer.run.local import open_dataset

DATA = Path(__file__).resolve().parents[2] / "data" / "request_logs"
# Columns that both have.
EXCHANGES = """
    api_key api_version correlation_id client_id error_code error_count topics partitions acks max_wait_ms min_bytes
    isolation_level session_id session_epoch group_id member_id transactional_id replica_id generation_id rack_id timeout_ms
    record_bytes throttle_time_ms status request_decoded response_decoded
"""
ENTRIES = """
    side topic topic_id partition error_code "offset" high_watermark last_stable_offset log_start_offset record_bytes
    leader_epoch forgotten preferred_read_replica timestamp_ms
"""
ERRORS = "side code path topic topic_id partition entity error_message level"
GROUPS = "event group_type group_id member_id instance_id generation leader members topics error_code"
# Logs of brokers before 2.8, which were text and have been made JSON: not as any broker writes it.
MADE = ("broker_11", "broker_24")
# The size of ShareFetch's records is in no log; for DescribeLogDirs' partitions 2.8 has a name of its own.
APART = ("ShareFetch", "DescribeLogDirs")


def of_lines(dataset: Dataset) -> dict[int, dict[str, Any]]:
    asked = "SELECT r.line, x.* FROM log_requests AS r JOIN exchanges AS x ON x.exchange = r.exchange"
    return {row["line"]: row for row in dataset.query(asked)}


def rows_of(dataset: Dataset, table: str, columns: str, lines: dict[int, dict[str, Any]]) -> dict[int, Counter]:
    line_of = {row["exchange"]: line for line, row in lines.items()}
    found: dict[int, Counter] = {}
    for row in dataset.query(f"SELECT exchange, {', '.join(columns.split())} FROM {table}"):
        if (line := line_of.get(row.pop("exchange"))) is not None:
            found.setdefault(line, Counter())[tuple(row.values())] += 1
    return found


def test_a_log_alone_says_what_the_packets_say(logged: Capture) -> None:
    if logged.name in MADE:
        pytest.skip("this log is not as a broker writes it")
    keys = tuple(logged.folder.glob(f"{logged.name}.keylog"))
    files = [str(path) for path in logged.files]
    with (
        open_dataset(files, Options(request_logs=(logged.log,), tls_key_logs=keys)) as packets,
        open_dataset([str(logged.log)], Options()) as alone,
    ):
        seen, told = of_lines(packets), of_lines(alone)
        whole = {
            line: row
            for line, row in seen.items()
            if row["status"] in ("answered", "no_reply_expected")
            and {row["request_decoded"], row["response_decoded"]} <= {"full", "none"}
            and row["api_name"] not in APART
        }
        assert whole and set(whole) <= set(told)
        assert all(row["exchange"] >= 0 and row["connection"] >= 0 for row in told.values())
        for line, row in whole.items():
            assert [told[line][name] for name in EXCHANGES.split()] == [row[name] for name in EXCHANGES.split()], line
            assert told[line]["latency_ns"] is None or told[line]["latency_ns"] == told[line]["broker_ns"]
            assert told[line]["log_total_ns"] == row["log_total_ns"]
            assert told[line]["request_bytes"] is None and told[line]["request_packet"] is None
        for table, columns in (("entries", ENTRIES), ("errors", ERRORS), ("group_events", GROUPS)):
            of_packets, of_log = (
                rows_of(each, table, columns, found) for each, found in ((packets, seen), (alone, told))
            )
            assert {line: of_packets.get(line) for line in whole} == {line: of_log.get(line) for line in whole}, table


@pytest.mark.parametrize(("name", "suffix"), [("kafka_241", ".log.zst"), ("kafka_391", ".log.gz")])
def test_logs_as_log4j_wrote_them(name: str, suffix: str) -> None:
    """Text of 2.4.1 and JSON of 3.9.1: topics, offsets and errors of what clients produced and read are those of the packets."""
    log = DATA / f"{name}{suffix}"
    with (
        open_dataset([str(DATA / f"{name}.pcap.zst")], Options(request_logs=(log,))) as packets,
        open_dataset([str(log)], Options()) as alone,
    ):
        seen, told = of_lines(packets), of_lines(alone)
        data = {line for line, row in seen.items() if row["api_name"] in ("Fetch", "OffsetCommit", "ListOffsets")}
        assert len(data) >= 3
        columns = 'side topic partition error_code "offset" high_watermark record_bytes'
        found, truth = (rows_of(each, "entries", columns, lines) for each, lines in ((alone, told), (packets, seen)))
        assert {line: found.get(line) for line in data} == {line: truth.get(line) for line in data}


def test_what_a_log_cannot_answer_is_refused_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = str(DATA / "kafka_391.log.gz")
    for verb in ("connections", "zones", "unanswered"):
        main([verb, log])
        told = " ".join(capsys.readouterr().out.split())
        assert "not known: this is a broker's own log of requests, without packets" in told, verb
        assert "1" not in told, verb
    assert main(["dump", log]) == main(["extract", log, "--api", "Fetch", "-o", str(tmp_path / "x.pcapng")]) == 2
    told = capsys.readouterr().err
    assert told.count("a broker's log of requests, which has no packets") == 2
    assert not (tmp_path / "x.pcapng").exists()
    assert main(["report", log, str(DATA / "kafka_391.pcap.zst")]) == 2  # the capture counts
    assert "beside a capture give it as --request-log" in capsys.readouterr().err
    assert main(["report", log, "--request-log", log]) == 2
    with through(tmp_path / "fifo", gzip.decompress(Path(log).read_bytes())):
        # As `watch` does, which cannot know what comes through a pipe before it reads.
        assert main(["report", str(tmp_path / "fifo"), str(DATA / "kafka_391.pcap.zst")]) == 2
    assert "fifo: a broker's log of requests, which has no packets" in capsys.readouterr().err


def test_a_log_that_ends_in_its_first_line_is_no_capture_without_packets(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "broker.log"
    log.write_bytes(gzip.decompress((DATA / "kafka_391.log.gz").read_bytes())[:300])
    assert main(["report", str(log)]) == 2
    told = capsys.readouterr()
    assert "1 line is no request of a broker that can be read (first: line 1); nothing else is in it" in told.err
    assert "packets" not in told.out + told.err


def test_an_answer_from_a_log_speaks_of_no_packets(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What only packets tell, as which requests had no reply and what idempotent producers sent, is not said to be none."""
    log, tables = str(DATA / "kafka_391.log.gz"), str(tmp_path / "tables")
    assert main(["export", log, "--to", tables]) == 0
    for asked in (log, tables):
        for verb in ("report", "latency", "profile", "transactions"):
            capsys.readouterr()
            main([verb, asked])
            told = " ".join(capsys.readouterr().out.split())
            for words in (
                "unanswered requests",
                "first byte of",
                "found in the capture",
                "in this capture",
                "no idempotent",
                "Round trip",
                "not known -",
                "None",
            ):
                assert words not in told, (verb, words)


def test_latency_without_the_way_is_said_not_to_be_known(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["latency", str(DATA / "kafka_391.log.gz"), "--of", "service"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "Not known of a log alone: latency without queueing and the way." in told
    assert "count" not in told


def test_a_log_to_be_watched_is_refused_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "broker.log"
    log.write_bytes(gzip.decompress((DATA / "kafka_391.log.gz").read_bytes()))
    assert main(["watch", str(log), "--format", "jsonl"]) == 2
    assert "a broker's log of requests, which is not watched" in capsys.readouterr().err


@pytest.mark.parametrize("is_packed", [False, True])
@pytest.mark.parametrize("lead", [0, 9_000])
def test_a_log_through_a_pipe_is_the_log(
    lead: int, is_packed: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where other lines come first, so that a look into the pipe takes several blocks of it."""
    text = b"INFO of something else\n" * (lead // 23) + gzip.decompress((DATA / "kafka_391.log.gz").read_bytes())
    log, fifo = tmp_path / "broker.log", tmp_path / "fifo"
    log.write_bytes(gzip.compress(text) if is_packed else text)
    assert main(["exchanges", str(log), "--format", "csv"]) == 0
    expected = capsys.readouterr().out
    assert expected.count("\n") > 40
    with log.open() as given:
        monkeypatch.setattr("sys.stdin", given)
        assert main(["exchanges", "-", "--format", "csv"]) == 0
        assert capsys.readouterr().out == expected
    with through(fifo, log.read_bytes()):
        assert main(["exchanges", str(fifo), "--format", "csv"]) == 0
    assert capsys.readouterr().out == expected


def test_what_goes_beside_a_capture_may_come_through_pipes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    names, fifo = b"address\thost\n127.0.0.1\tkafka-of-the-shop\n", tmp_path / "fifo"
    (tmp_path / "names").write_bytes(names)
    capture, log = str(DATA / "kafka_391.pcap.zst"), DATA / "kafka_391.log.gz"
    words = ["latency", capture, "--client", "kafka-of-the-shop", "--part", "log"]
    assert main([*words, "--request-log", str(log), "--names", str(tmp_path / "names")]) == 0
    expected = capsys.readouterr().out
    assert "Fetch" in expected
    with log.open() as given, through(fifo, names):
        monkeypatch.setattr("sys.stdin", given)
        assert main([*words, "--request-log", "-", "--names", str(fifo)]) == 0
    assert capsys.readouterr().out == expected
    assert main(["latency", "-", "--request-log", "-"]) == 2
    assert "standard input can be read once" in capsys.readouterr().err


@contextmanager
def through(fifo: Path, data: bytes) -> Iterator[None]:
    """Somebody writes this into a named pipe."""
    os.mkfifo(fifo)
    writer = threading.Thread(target=fifo.write_bytes, args=(data,))
    writer.start()
    yield
    writer.join(10)
    assert not writer.is_alive()


def test_logs_in_a_directory_are_read_where_no_capture_is_beside_them(tmp_path: Path) -> None:
    for name in ("a.log.gz", "b.log.gz"):
        (tmp_path / name).write_bytes((DATA / "kafka_391.log.gz").read_bytes())
    with open_dataset([str(tmp_path)], Options()) as dataset:
        assert dataset.query("SELECT count(*) AS n, count(DISTINCT log) AS logs FROM log_requests") == [
            {"n": 100, "logs": 2}
        ]
    (tmp_path / "c.pcap.zst").write_bytes((DATA / "kafka_391.pcap.zst").read_bytes())
    with open_dataset([str(tmp_path)], Options()) as dataset:
        assert dataset.query("SELECT count(*) AS n FROM exchanges") == [{"n": 28}]
        assert any("skipped 2 files that are not captures (a.log.gz, b.log.gz)" in line for line in dataset.warnings)


def test_bodies_without_facts_are_forgotten_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each body that differs is remembered for a while only, whether it says something or not."""
    monkeypatch.setattr(log_facts, "_MOST_BODIES", 10)
    facts = LogFacts(lambda _name, _table: None)
    for number in range(100):
        body = b'{"errorCode":0,"apiKeys":[],"throttleTimeMs":%d}' % number
        facts.take(number, 1, Told(18, 3, 0, 1, None, body, False))
    assert 0 < len(facts._known) <= 10


def test_connections_without_end_are_followed_in_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With more than are followed some count twice, none has another's requests, and no exchange is lost."""
    log = tmp_path / "broker.log"
    packed = DATA.parent / "logged" / "kafka44_failover.requests.jsonl.zst"
    log.write_bytes(bytes(cramjam.zstd.decompress(packed.read_bytes())))
    ends = "client_address, client_port, broker_address, broker_port"
    sums = f"SELECT {ends}, sum(requests) AS requests FROM connections GROUP BY ALL ORDER BY ALL"
    joined = "SELECT count(*) AS n FROM exchanges AS x JOIN connections USING (connection)"
    ids = "SELECT count(*) AS n, count(DISTINCT connection) AS ids FROM connections"
    with open_dataset([str(log)], Options()) as dataset:
        whole, exchanges, count = dataset.query(sums), dataset.query(joined), dataset.query(ids)
    monkeypatch.setattr(log_exchanges, "MOST_PARTS", 3)
    with open_dataset([str(log)], Options()) as dataset:
        assert dataset.query(sums) == whole
        assert dataset.query(joined) == exchanges
        (row,) = dataset.query(ids)
        assert row["n"] == row["ids"] > count[0]["n"]
        assert any("one that was silent for long may count twice" in line for line in dataset.warnings)


def test_damaged_lines_end_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Bytes flipped, cut and doubled anywhere in lines of both forms, and values of other sorts in the bodies. Each log is read;
    every tenth has a report, whose questions take longer than all else."""
    chance = random.Random(57)
    texts = [
        bytes(cramjam.zstd.decompress((DATA / "kafka_241.log.zst").read_bytes())),
        gzip.decompress((DATA / "kafka_391.log.gz").read_bytes()),
    ]
    odd = [b"null", b"-1", b"1e999", b"[]", b"{}", b'"x"', b"true", b"9" * 30, b'{"a":' * 50]
    for number in range(60):
        lines = [line for text in texts for line in text.splitlines()]
        for _ in range(len(lines)):
            at = chance.randrange(len(lines))
            line = bytearray(lines[at])
            if not line:
                continue
            place = chance.randrange(len(line))
            change = chance.randrange(3)
            if change == 0:
                line[place] = chance.randrange(256)
            elif change == 1:
                line[place : place + chance.randrange(1, 40)] = b""
            else:
                colon = line.find(b":", place)
                line[colon + 1 : max(colon + 1, line.find(b",", colon))] = chance.choice(odd)
            lines[at] = bytes(line)
        log = tmp_path / f"{number}.log"
        log.write_bytes(b"\n".join(lines))
        if number % 10:
            with open_dataset([str(log)], Options()) as dataset:
                assert not dataset.bugs and dataset.query("SELECT count(*) AS n FROM entries")[0]["n"] > 0, number
        else:
            assert main(["report", str(log)]) in (0, 2), number
            assert "a bug in kanalyze" not in capsys.readouterr().err, number
