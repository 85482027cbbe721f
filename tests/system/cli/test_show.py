"""`show` and `dump` over real captures."""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import cramjam
import pytest
from kept_datasets import KeptDatasets
from paths import ROOT

from analyzer.base.tables import TABLES

Run = Callable[..., Any]
CAPTURE = ROOT / "samples" / "old_java.pcap.zst"


@pytest.fixture(scope="module")
def kept() -> Iterator[KeptDatasets]:
    with KeptDatasets() as datasets:
        yield datasets


@pytest.fixture
def kanalyze(kept: KeptDatasets, tmp_path: Path) -> Run:
    """In this process, which reads each capture once: what is proved here is what is said."""
    return lambda *arguments: kept.run(arguments, tmp_path)


@pytest.fixture
def dumped(kanalyze: Run) -> list[dict[str, Any]]:
    done = kanalyze("dump", CAPTURE)
    assert done.returncode == 0
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_dump_is_the_exchanges_table_with_bodies(kanalyze: Run, dumped: list[dict[str, Any]]) -> None:
    rows = [json.loads(line) for line in kanalyze("exchanges", CAPTURE, "--format", "jsonl").stdout.splitlines()]
    columns = [column.name for column in TABLES["exchanges"]]
    assert len(rows) > 10 and all(list(row) == [*columns, "request", "response"] for row in dumped)
    by_id = {row["exchange"]: row for row in dumped}
    assert len(by_id) == len(rows)
    for row in rows:
        assert row == {name: by_id[row["exchange"]][name] for name in columns}
        assert (by_id[row["exchange"]]["response"] is None) == (row["response_decoded"] in ("none", "unsupported"))


def test_show_finds_an_exchange_by_id_and_by_packet(kanalyze: Run, dumped: list[dict[str, Any]]) -> None:
    row = next(row for row in dumped if row["api_name"] == "Metadata" and row["response"])
    by_id = kanalyze("show", CAPTURE, row["exchange"])
    assert by_id.returncode == 0
    text = by_id.stdout.decode()
    assert row["exchange"] in text and "Metadata" in text and "brokers: " in text
    for word in (f"#{row['request_packet']}", str(row["response_packet"])):
        assert text in kanalyze("show", CAPTURE, word).stdout.decode()
    as_json = kanalyze("show", CAPTURE, row["exchange"], "--format", "json")
    assert json.loads(as_json.stdout) == row


def test_a_packet_may_be_given_as_an_option(kanalyze: Run) -> None:
    capture = str(ROOT / "samples" / "throttle.pcap.zst")
    said = kanalyze("show", capture, "682").stdout
    assert said.startswith(b"exchange ") and kanalyze("show", capture, "--packet", "682").stdout == said
    assert kanalyze("show", "--packet", "throttle.pcap.zst:682", capture).stdout == said
    assert kanalyze("show", capture, "--packet", "abc").returncode == 2


def test_show_takes_each_packet_that_wireshark_counts_to_a_message(kanalyze: Run, tmp_path: Path) -> None:
    """Wireshark shows a message at its last packet and lists the others; with several captures the packet says of which it is."""
    if shutil.which("tshark") is None:
        pytest.skip("no tshark")
    capture = tmp_path / "long.pcap"
    capture.write_bytes(bytes(cramjam.zstd.decompress((ROOT / "samples" / "groups_classic.pcap.zst").read_bytes())))
    where = "api_name = 'Fetch' and response_bytes > 70000 and response_end_ns > response_time_ns"
    sql = f"select * from exchanges where {where} order by response_bytes desc limit 1"
    (row,) = json.loads(kanalyze("sql", capture, sql, "--format", "json").stdout)
    chosen = f"tcp.dstport == {row['client_port']} && kafka.correlation_id == {row['correlation_id']}"
    command = ["tshark", "-r", str(capture), "-d", f"tcp.port=={row['broker_port']},kafka", "-Y", chosen]
    shown = subprocess.run(
        [*command, "-T", "fields", "-e", "frame.number", "-e", "tcp.segment"], capture_output=True, check=True
    ).stdout.decode()
    last, listed = shown.split()
    packets = [int(number) for number in listed.split(",")]
    assert packets[0] == row["response_packet"] < int(last) == packets[-1] and len(packets) > 2
    for number in packets:
        assert (
            kanalyze("show", capture, str(number)).stdout.decode().startswith(f"exchange {row['exchange']}  Fetch")
        ), number
    other = tmp_path / "other.pcap"
    shutil.copy(capture, other)
    for words in ((capture, last), (capture, other, f"long.pcap:{last}")):
        assert kanalyze("show", *words).stdout.decode().startswith(f"exchange {row['exchange']}  Fetch"), words
    refused = kanalyze("show", capture, other, last)
    assert refused.returncode == 2 and b"2 captures have a packet" in refused.stderr
    nowhere = kanalyze("show", capture, "99999999")
    assert nowhere.returncode == 2 and b"no Kafka message in packet 99999999" in nowhere.stderr
    # As many letters as an id has.
    apart = kanalyze("show", capture, "long.pcap:999999")
    assert apart.returncode == 2 and b"no Kafka message in packet long.pcap:999999" in apart.stderr


def test_offsets_of_show_lie_in_the_frame_and_grow(kanalyze: Run, dumped: list[dict[str, Any]]) -> None:
    row = next(row for row in dumped if row["api_name"] == "Metadata" and row["response"])
    text = kanalyze("show", CAPTURE, row["exchange"]).stdout.decode()
    _, request, response = text.split("offset    size  field")
    for part, size in ((request, row["request_bytes"]), (response, row["response_bytes"])):
        places = [line.split(maxsplit=2) for line in part.splitlines() if line[:8].strip().isdigit()]
        starts = [int(place[0]) for place in places]
        assert starts == sorted(starts) and max(int(p[0]) + int(p[1]) for p in places) == size - 4


@pytest.mark.parametrize("name", ["throttle", "groups_classic", "transactions", "old_java"])
def test_the_parts_of_the_time_are_all_of_it(name: str) -> None:
    """What `show` names adds up to the total, for every exchange of which the parts are known."""
    from analyzer.base.options import Options
    from analyzer.messages.exchange_text import PART_COLUMNS
    from analyzer.run.local import open_dataset

    with open_dataset([str(ROOT / "samples" / f"{name}.pcap.zst")], Options()) as dataset:
        whole = " + ".join(PART_COLUMNS.values())
        (row,) = dataset.query(
            f"SELECT count(*) FILTER (total_ns <> {whole}) AS wrong, count({whole}) AS known FROM exchange_parts"
        )
    assert row["wrong"] == 0 and row["known"] > 20


def shown(kanalyze: Run, name: str, where: str, *words: str) -> tuple[dict[str, Any], str]:
    """The first exchange of a sample that fits, and what `show` says of it."""
    capture = ROOT / "samples" / f"{name}.pcap.zst"
    found = kanalyze(
        "sql", capture, f"select * from exchanges where {where} order by exchange limit 1", "--format", "json"
    )
    (row,) = json.loads(found.stdout)
    done = kanalyze("show", capture, row["exchange"], *words)
    assert done.returncode == 0, done.stderr
    return row, done.stdout.decode()


def test_show_says_where_the_time_went(kanalyze: Run) -> None:
    row, text = shown(
        kanalyze,
        "throttle",
        "api_name = 'Produce' and queue_ns = 0 and muted_ns between 100000000 and 900000000 and broker_evidence = 'mute'",
    )
    (line,) = (line for line in text.splitlines() if line.startswith("where the time went: "))
    assert (
        line
        == f"where the time went: throttle {(row['muted_ns'] + 500_000) // 10**6} ms, broker "
        + line.partition("broker ")[2]
    )
    assert line.endswith("(known: the broker began when the throttle ended)")
    # A wait by design is called one.
    _, text = shown(kanalyze, "groups_classic", "kind = 'fetch_tail' and latency_ns > 100000000")
    assert "where the time went: broker (waiting for data) " in text and "Fetch v18, waiting for data" in text


def test_show_names_the_topic_behind_its_id(kanalyze: Run) -> None:
    capture = ROOT / "samples" / "groups_classic.pcap.zst"
    told = json.loads(kanalyze("sql", capture, "select topic_id, topic from topic_ids", "--format", "json").stdout)
    row, text = shown(kanalyze, "groups_classic", "api_name = 'Fetch' and api_version >= 13 and record_bytes > 0")
    found = re.findall(r'topic_id = "(\S+)"  "(\S+)"', text)
    assert len(found) == len(re.findall(r"topic_id = ", text)) >= 1
    assert set(found) <= {(each["topic_id"], each["topic"]) for each in told}
    assert json.loads(kanalyze("show", capture, row["exchange"], "--format", "json").stdout)


def test_show_folds_fields_that_were_not_sent(kanalyze: Run) -> None:
    _, text = shown(kanalyze, "groups_classic", "api_name = 'Fetch' and api_version = 18 and record_bytes > 0")
    places = [line.split() for line in text.splitlines() if line[:8].strip().isdigit()]
    assert not [place for place in places if place[1] == "0"]
    assert "absent: diverging_epoch, current_leader, snapshot_id\n" in text
    assert "diverging_epoch" not in text.replace("absent: diverging_epoch", "")


def test_show_opens_record_batches(kanalyze: Run) -> None:
    """As many records as the batches say, with the keys and values that `dump` has in base64."""
    where = "api_name = 'Produce' and record_bytes > 1000 order by record_bytes desc, exchange limit 1 --"
    row, text = shown(kanalyze, "throttle", where, "--records")
    _, without = shown(kanalyze, "throttle", where)
    capture = ROOT / "samples" / "throttle.pcap.zst"
    body = json.loads(kanalyze("show", capture, row["exchange"], "--records", "--format", "json").stdout)["request"]
    wanted = [
        record
        for topic in body["topic_data"]
        for partition in topic["partition_data"]
        for batch in partition["records"]["batches"]
        for record in batch["records"]
    ]
    lines = [line.strip() for line in text.splitlines() if line.strip().startswith("record ")]
    assert len(lines) == len(wanted) > 3 and not [line for line in without.splitlines() if "record " in line[:40]]
    for line, record in zip(lines, wanted, strict=True):
        found = re.match(r"record (\d+), ([0-9-]{10} [0-9:]{8}\.\d{3}) UTC, key (null|\".*?\"), value \"(.*)", line)
        assert found and int(found[1]) == record["offset"]
        at = datetime.fromtimestamp(record["timestamp"] / 1000, UTC)
        assert found[2] == at.strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
        key = None if record["key"] is None else base64.b64decode(record["key"]).decode()
        assert json.loads(found[3]) == key
        assert found[4][:50] == base64.b64decode(record["value"]).decode()[:50]
    assert [line for line in text.splitlines() if not line.strip().startswith("record ")] == without.splitlines()


def test_show_of_nothing_says_so(kanalyze: Run) -> None:
    for word in ("0000000000000000", "#999999"):
        done = kanalyze("show", CAPTURE, word)
        assert done.returncode == 2 and done.stdout == b"" and word.encode() in done.stderr


def test_show_says_what_is_missing(kanalyze: Run) -> None:
    """Words that mean an exchange leave the capture missing, any other word the exchange; filters are named where they hide it."""
    assert b"CAPTURE is missing: kanalyze show CAPTURE... 682" in kanalyze("show", "682").stderr
    assert b"EXCHANGE is missing" in kanalyze("show", CAPTURE).stderr
    row = kanalyze("exchanges", CAPTURE, "--limit", "1", "--format", "jsonl")
    number = str(json.loads(row.stdout)["request_packet"])
    hidden = kanalyze("show", CAPTURE, number, "--from", "+99h")
    assert (
        hidden.returncode == 2
        and f"no Kafka message in packet {number} that matches the filters".encode() in hidden.stderr
    )


def test_an_export_finds_bodies_in_its_capture_or_says_where_that_was(kanalyze: Run, tmp_path: Path) -> None:
    shutil.copy(CAPTURE, tmp_path / "here.pcap.zst")
    assert kanalyze("export", "here.pcap.zst", "--to", "tables").returncode == 0
    direct, reopened = (kanalyze("dump", name) for name in ("here.pcap.zst", "tables"))
    assert reopened.returncode == 0 and reopened.stdout == direct.stdout and len(direct.stdout) > 1000
    (tmp_path / "here.pcap.zst").unlink()
    done = kanalyze("dump", "tables")
    assert done.returncode == 2 and done.stdout == b"" and b"here.pcap.zst" in done.stderr
    assert kanalyze("exchanges", "tables").returncode == 0


def test_filters_hold_for_dump(kanalyze: Run, dumped: list[dict[str, Any]]) -> None:
    done = kanalyze("dump", CAPTURE, "--api", "Metadata")
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert found == [row for row in dumped if row["api_name"] == "Metadata"] != []


def test_secrets_are_hidden(kanalyze: Run, shared: Path) -> None:
    """The lab's passwords, in clear and as base64 in any alignment; `sasl_old` has tokens without a Kafka header."""
    words = [b"admin-pw", b"alice-pw", b"bob-pw", b"dave-secret", b"erin-secret"]
    hidden = set(words)
    for word in words:
        for shift in range(3):
            encoded = base64.b64encode(bytes(shift) + word)
            hidden.add(encoded[4 if shift else 0 : -4])
    for name in ("sasl.pcap", "sasl_old.pcap", "sasl_token.pcap"):
        capture = shared / "captures" / "lab" / name
        bodies, rows = kanalyze("dump", capture).stdout, kanalyze("exchanges", capture).stdout
        assert bodies.count(b"secret_bytes") > 10
        assert rows
        assert not [word for word in hidden if word in bodies or word in rows]
