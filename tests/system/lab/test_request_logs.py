"""`--request-log` against the logs themselves: each line that has a request in the capture is joined, with the parts that it says,
and no loss of packets, lines or time makes a wrong pair."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import cramjam
import pytest
import request_logs
import transform
from effort import also_long
from oracle import Capture, captures

from analyzer.base.options import Options
from analyzer.cli.main import main
from analyzer.query.dataset import Dataset
from analyzer.run.local import open_dataset

DATA = Path(__file__).resolve().parents[2] / "data" / "request_logs"
INCIDENTS = DATA.parent / "incidents"
PARTS = {
    "total": "totalTimeMs",
    "queue": "requestQueueTimeMs",
    "local": "localTimeMs",
    "remote": "remoteTimeMs",
    "throttle": "throttleTimeMs",
    "response_queue": "responseQueueTimeMs",
    "send": "sendTimeMs",
}
Line = dict[str, Any]


def read_log(path: Path) -> list[Line]:
    text = bytes(cramjam.zstd.decompress(path.read_bytes())).decode()
    return [json.loads(line) for line in text.splitlines()]


def opened(files: list[Path], log: Path, **options: Any) -> Dataset:
    return open_dataset([str(path) for path in files], Options(request_logs=(log,), **options))


def counts(dataset: Dataset) -> dict[str, int]:
    rows = dataset.query("SELECT outcome, count(*) AS n FROM log_requests GROUP BY outcome")
    return {row["outcome"]: row["n"] for row in rows}


def test_every_line_with_a_request_in_the_capture_is_joined_with_its_parts(logged: Capture) -> None:
    keys = tuple(logged.folder.glob(f"{logged.name}.keylog"))
    lines = read_log(logged.log)
    with opened(list(logged.files), logged.log, tls_key_logs=keys) as dataset:
        # Frames of TLS are counted by nobody else: with the keys, beside the capture or in it, all of the log is there.
        whole = len(lines) if logged.name.startswith("tls") else logged.fact("matched")
        assert counts(dataset).get("joined", 0) == whole
        assert sum(counts(dataset).values()) == len(lines)
        rows = dataset.query(
            "SELECT r.line, x.* FROM log_requests AS r JOIN exchanges AS x ON x.exchange = r.exchange WHERE r.outcome = 'joined'"
        )
        assert len({row["exchange"] for row in rows}) == len(rows) == whole
        for row in rows:
            line = lines[row["line"] - 1]
            header = line["requestHeader"]
            found = (row["api_key"], row["api_version"], row["correlation_id"], row["client_id"])
            said = tuple(header[name] for name in ("requestApiKey", "requestApiVersion", "correlationId", "clientId"))
            assert found == said
            for column, name in PARTS.items():
                assert row[f"log_{column}_ns"] == round(line[name] * 1e6), (line, column)
        if said := {line["principal"] for line in lines} - {"User:ANONYMOUS"}:
            assert said & {row["principal"] for row in dataset.query("SELECT DISTINCT principal FROM exchanges")}


@pytest.mark.parametrize(("name", "suffix"), [("kafka_241", ".log.zst"), ("kafka_391", ".log.gz")])
def test_raw_logs_of_brokers(name: str, suffix: str) -> None:
    """As log4j wrote them: 2.4.1 in text, and 3.9.1 in JSON, five and a half hours east of the capture's clock."""
    with opened([DATA / f"{name}.pcap.zst"], DATA / f"{name}{suffix}") as dataset:
        found = counts(dataset)
        (asked,) = dataset.query("SELECT count(*) AS n, count(log_total_ns) AS logged FROM exchanges")
        assert asked["logged"] == found.pop("joined")
        # What a broker that stops has not answered is in no log.
        assert asked["n"] - asked["logged"] == (name == "kafka_241")
        assert found == ({"forwarded": 1, "no_connection": 21} if name == "kafka_391" else {})
        (clock,) = dataset.query("SELECT offset_ns FROM log_clocks")
        hours = 5.5 if name == "kafka_391" else 0
        assert abs(clock["offset_ns"] - hours * 3600e9) < 50e6
        assert dataset.query("SELECT count(*) AS n FROM exchanges WHERE log_total_ns > total_ns + 50000000") == [
            {"n": 0}
        ]


def test_without_keys_the_log_says_what_the_packets_hide(shared: Path) -> None:
    folder = shared / "captures" / "lab"
    with opened([folder / "tls13.pcap"], folder / "tls13.requests.jsonl.zst") as dataset:
        assert counts(dataset) == {"encrypted": 118}
        rows = dataset.query(
            "SELECT DISTINCT topic FROM log_requests WHERE api_name = 'Metadata' OR api_name = 'Produce'"
        )
        assert "clicks-tls13" in {row["topic"] for row in rows}


def disturbed(lines: list[Line], seed: int, ahead_s: float, drift: float) -> Iterator[tuple[int | None, Line]]:
    """The log from its middle on, by a clock that is wrong and drifts, with lines of other requests of the same ports and numbers,
    as when a port is used again: number of the line, None for those."""
    chance = random.Random(seed)
    begin = datetime.fromisoformat(lines[0]["logged_at"])
    start = len(lines) * 2 // 5
    for number, line in enumerate(lines, 1):
        after = (datetime.fromisoformat(line["logged_at"]) - begin).total_seconds()

        def at(after: float, line: Line = line) -> Line:
            moment = begin + timedelta(seconds=after * (1 + drift) + ahead_s)
            return line | {"logged_at": moment.astimezone(UTC).isoformat(timespec="milliseconds")}

        if chance.random() < 0.2:
            yield None, at(after + chance.choice((-1, 1)) * chance.uniform(40, 90))
        if number > start:
            yield number, at(after)


def as_text(line: Line) -> str:
    """A line as brokers before 2.8 write it (see kafka_241.log.zst), without its bodies."""
    header = line["requestHeader"]
    moment = datetime.fromisoformat(line["logged_at"]).strftime("%Y-%m-%d %H:%M:%S,%f")[:-3]
    names = {"apiKey": "requestApiKeyName", "apiVersion": "requestApiVersion", "clientId": "clientId"}
    asked = ", ".join(f"{name}={header[key]}" for name, key in {**names, "correlationId": "correlationId"}.items())
    times = ",".join(f"{name.removesuffix('Ms')}:{line[name]}" for name in PARTS.values())
    who = f"securityProtocol:{line['securityProtocol']},principal:{line['principal']},listener:{line['listener']}"
    return (
        f"[{moment}] DEBUG Completed request:RequestHeader({asked}) -- {{}},response:{{}} "
        f"from connection {line['connection']};{times},{who} (kafka.request.logger)"
    )


@pytest.mark.parametrize("seed", also_long([1, 2], range(3, 20)))
@pytest.mark.parametrize("name", ["throttle", "groups_848", "old_java", "versions", "ipv6", "transactions"])
def test_losses_and_wrong_clocks_make_no_wrong_pair(samples: Path, tmp_path: Path, name: str, seed: int) -> None:
    (capture,) = (each for each in captures(samples) if each.name == name)
    check(capture, tmp_path, seed)


@pytest.mark.parametrize("form", [json.dumps, as_text])
@pytest.mark.parametrize("name", ["errors", "clients", "sasl", "basics", "broker_24"])
def test_losses_make_no_wrong_pair_in_odd_streams(
    shared: Path, tmp_path: Path, name: str, form: Callable[[Line], str]
) -> None:
    """`errors` uses one number again and again on one connection."""
    (capture,) = (each for each in captures(shared / "captures" / "lab") if each.name == name)
    check(capture, tmp_path, 57, form)


@pytest.mark.parametrize("seed", also_long([1], range(2, 20)))
@pytest.mark.parametrize("name", ["throttle", "groups_848", "old_java", "versions", "ipv6", "transactions"])
def test_the_text_of_old_brokers_makes_no_wrong_pair_either(
    samples: Path, tmp_path: Path, name: str, seed: int
) -> None:
    (capture,) = (each for each in captures(samples) if each.name == name)
    check(capture, tmp_path, seed, as_text)


def check(capture: Capture, folder: Path, seed: int, form: Callable[[Line], str] = json.dumps) -> None:
    chance = random.Random(seed)
    lines = read_log(capture.log)
    with opened(list(capture.files), capture.log) as dataset:
        asked = "SELECT r.line, x.request_time_ns FROM log_requests AS r JOIN exchanges AS x ON x.exchange = r.exchange"
        truth = {row["line"]: row["request_time_ns"] for row in dataset.query(asked)}
    header, packets = transform.read_pcap(capture.files[0])
    lost = transform.write_pcap(folder / "lost.pcap", header, (each for each in packets if chance.random() >= 0.01))
    ahead_s, drift = chance.choice((3, -3)), chance.choice((50e-6, -50e-6))
    told = list(disturbed(lines, seed, ahead_s, drift))
    log = folder / "requests.log"
    log.write_text("".join(form(line) + "\n" for _, line in told))
    with opened([lost], log) as dataset:
        there = {row["request_time_ns"] for row in dataset.query("SELECT request_time_ns FROM exchanges")}
        pairs = {told[row["line"] - 1][0]: row["request_time_ns"] for row in dataset.query(asked)}
        wrong = {line: moment for line, moment in pairs.items() if line is None or truth.get(line) != moment}
        assert not wrong
        both = {line for line, moment in truth.items() if moment in there} & {number for number, _ in told}
        assert len(pairs) >= 0.9 * len(both)
        (clock,) = dataset.query("SELECT avg(offset_ns) AS offset_ns FROM log_clocks")
        assert abs(clock["offset_ns"] - ahead_s * 1e9) < 30e6


def test_a_slow_disk_is_told_by_the_log_in_report_and_finding(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "log_dir_stalls"
    log = request_logs.as_written(INCIDENTS / f"{name}.requests.tsv.zst", tmp_path / "requests.log")
    capture = str(INCIDENTS / f"{name}.pcap.zst")
    main(["latency", capture, "--request-log", str(log)])
    told = " ".join(capsys.readouterr().out.split())
    assert "Time in the broker by its own log" in told
    assert "1,658 requests of the log found in the capture." in told
    main(["findings", capture, "--request-log", str(log)])
    told = " ".join(capsys.readouterr().out.split())
    assert "time is work on this broker (local: its disk and locks), 98 % by the broker's log" in told
    main(["latency", capture])
    assert "own log" not in capsys.readouterr().out


@pytest.mark.parametrize("verb", ["latency", "profile"])
def test_the_log_alone_as_rows_has_all_of_its_time(samples: Path, capsysbinary: Any, verb: str) -> None:
    log = samples / "throttle.requests.jsonl.zst"
    asked = [verb, str(samples / "throttle.pcap.zst"), "--part", "log", "--format", "json"]
    assert main([*asked, "--request-log", str(log)]) == 0
    rows = json.loads(capsysbinary.readouterr().out)
    logged = [line["totalTimeMs"] for line in read_log(log) if not line["isForwarded"]]
    assert sum(row["requests"] for row in rows) == len(logged)
    assert sum(row["total_ns"] for row in rows) == pytest.approx(sum(logged) * 1e6, abs=500 * len(logged))
    assert main(asked) == 0
    without = capsysbinary.readouterr()
    assert json.loads(without.out) == [] and b"give one with --request-log" in without.err
    assert main([*asked, "--by", "client"]) == 2


def test_the_log_of_another_day_and_impossible_moments_pair_nothing(samples: Path, tmp_path: Path) -> None:
    """Ports and numbers of one capture meet those of another, with moments that no clock has, and one log is named twice."""
    chance = random.Random(4)
    log = tmp_path / "requests.log"
    with log.open("w") as sink:
        for line in read_log(samples / "throttle.requests.jsonl.zst") * 4:
            moment = chance.choice(
                ("1970-01-01T00:00:00", "2116-01-01T00:00:00", f"2026-11-21T{chance.randrange(24):02}:00:00")
            )
            total = chance.choice((0, 604_800_000, line["totalTimeMs"]))
            sink.write(
                json.dumps(line | {"logged_at": f"{moment}.{chance.randrange(1000):03}Z", "totalTimeMs": total}) + "\n"
            )
    with open_dataset([str(samples / "throttle.pcap.zst")], Options(request_logs=(log, log))) as dataset:
        assert not counts(dataset).get("joined")
        assert sum(counts(dataset).values()) == 4 * len(read_log(samples / "throttle.requests.jsonl.zst"))
        found = {(row["side"], row["outcome"]) for row in dataset.metric("log_coverage")}
        assert ("log", "no_clock") in found and ("capture", "no_clock") in found
