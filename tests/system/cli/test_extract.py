"""`extract`: the packets of a choice, which read again give the rows of the choice."""

from __future__ import annotations

import json
import random
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from capture_tools import tshark
from click.testing import CliRunner
from effort import also_long, one_in
from kept_datasets import KeptDatasets, kept_datasets
from made_capture import Conversation, pcap, reply, request
from paths import ROOT, SAMPLES
from scapy.layers.inet import IP
from scapy.layers.l2 import Ether
from scapy.packet import Raw

from analyzer.base.options import Options
from analyzer.base.text import exchange_id
from analyzer.cli.main import cli, main
from analyzer.extract import surroundings
from analyzer.run import local
from lab.score import DATA, truths

Rows = dict[int, dict[str, Any]]
CAPTURES = sorted(SAMPLES.glob("*.pcap*"))
# Clocks of nanoseconds, each packet twice under two link types, secrets of TLS inside, cut packets, tokens without headers.
LAB = also_long(
    ["shape_nano", "shape_two", "tls13_embedded", "shape_snap96", "sasl_token"],
    ["sasl_old", "shape_late", "ipv6", "groups_848"],
)
STORY = ("exchange", "time_ns", "event", "first_offset", "last_offset", "base_sequence", "marks", "error_code")
# Where a packet lies is the one thing that an extract changes.
PLACES = {"request_packet", "response_packet", "request_file", "response_file"}


def run(*words: str | Path, given: bytes | None = None) -> Any:
    return CliRunner().invoke(cli, [str(word) for word in words], input=given)


def extracted(*words: str | Path) -> None:
    done = run("extract", *words)
    assert done.exit_code == 0, done.output


@pytest.fixture
def kept() -> Iterator[KeptDatasets]:
    with KeptDatasets() as datasets:
        yield datasets


def rows_of(path: Path, table: str = "exchanges") -> list[dict[str, Any]]:
    with local.open_dataset([str(path)], Options()) as found:
        return found.query(f"SELECT * FROM {table}")


def exchanges(path: Path) -> Rows:
    return {row["exchange"]: {name: row[name] for name in row if name not in PLACES} for row in rows_of(path)}


def chosen_at_random(whole: Rows, count: int, seed: str) -> list[str]:
    chance = random.Random(seed)
    return [word for each in chance.sample(sorted(whole), count) for word in ("--exchange", exchange_id(each))]


def assert_same_rows(path: Path, out: Path) -> None:
    with kept_datasets():
        whole = exchanges(path)
        words = chosen_at_random(whole, 3, path.name)
        extracted(path, *words, "-o", out)
        found = exchanges(out)
    wanted = {whole[int(word, 16)]["connection"] for word in words[1::2]}
    of_wanted = {each: row for each, row in whole.items() if row["connection"] in wanted}
    assert {each: found.get(each) for each in of_wanted} == of_wanted


@pytest.mark.parametrize("path", CAPTURES[:: one_in(4)], ids=lambda path: path.name.partition(".")[0])
def test_an_extract_gives_the_same_rows(path: Path, tmp_path: Path) -> None:
    assert_same_rows(path, tmp_path / "part.pcapng")


@pytest.mark.slow
@pytest.mark.parametrize("name", LAB)
def test_an_extract_of_any_capture_gives_the_same_rows(name: str, shared: Path, tmp_path: Path) -> None:
    (path,) = (shared / "captures" / "lab").glob(f"{name}.pcap*")
    assert_same_rows(path, tmp_path / "part.pcapng.zst")


def test_packets_are_those_of_the_connection_byte_for_byte(tmp_path: Path) -> None:
    """As another program sees them, in the capture and in the extract."""
    path, out = SAMPLES / "ipv6.pcap.zst", tmp_path / "part.pcapng.gz"
    plain = tmp_path / "plain.pcap"
    extracted(path, "--client", "::1", "-o", plain.with_suffix(".pcapng"))
    connection = next(row for row in rows_of(path, "connections") if row["requests"] and row["requests"] > 20)
    extracted(path, "--connection", exchange_id(connection["connection"]), "--bare", "-o", out)
    fields = ["frame.time_epoch", "frame.cap_len", "frame.len", "tcp.seq_raw", "tcp.flags", "tcp.payload"]
    whole = tshark(plain.with_suffix(".pcapng"), fields, "-Y", f"tcp.port == {connection['client_port']}")
    assert len(whole) > 20 and tshark(out, fields) == whole


def test_comments_say_what_each_message_is(tmp_path: Path) -> None:
    out = tmp_path / "part.pcapng"
    extracted(SAMPLES / "throttle.pcap.zst", "--finding", "1", "--comment", "-o", out)
    comments = {
        row["frame.number"]: row["frame.comment"]
        for row in tshark(out, ["frame.number", "frame.comment"], "-Y", "frame.comment")
    }
    for row in rows_of(out):
        for side in ("request", "response"):
            if row[f"{side}_packet"] is not None:
                said = comments[str(row[f"{side}_packet"])]
                assert exchange_id(row["exchange"]) in said and f"correlation id {row['correlation_id']}" in said
    assert any("kanalyze finding 1, high: " in text for text in comments.values())


def first_finding(path: Path) -> tuple[str, ...] | None:
    lines = run("findings", path, "--format", "jsonl").stdout.splitlines()
    found = json.loads(lines[0]) if lines else None
    return found and (found["finding"], found["severity"], found["sentence"])


# The finding's own connections are enough; all of its broker's are (a share of the slowest requests; other clients that got
# through); those of another broker too (who had stopped fetching); a connection that was not refused.
@pytest.mark.parametrize(
    "name",
    also_long(
        ["quota_one_client", "broker_killed", "isr_shrunk", "tls_at_plaintext"],
        sorted(set(truths()) - {"quota_one_client", "broker_killed", "isr_shrunk", "tls_at_plaintext"}),
    ),
)
def test_an_extract_alone_leads_to_the_same_finding(name: str, tmp_path: Path) -> None:
    path, out = DATA / f"{name}.pcap.zst", tmp_path / "part.pcapng"
    with kept_datasets():
        first = first_finding(path)
        if first is None:
            pytest.skip("nothing is found there")
        extracted(path, "--finding", "1", "-o", out)
        assert first_finding(out) == first


@pytest.mark.parametrize("most_bytes", also_long([200_000], [1]))
def test_much_more_does_not_come_along_for_a_number(
    most_bytes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another client's requests waited too: the same rule leads to it without them, and what it says then is told."""
    path, out = DATA / "broker_pauses.pcap.zst", tmp_path / "part.pcapng"
    with kept_datasets():
        first = first_finding(path)
        sizes = {row["connection"]: row["client_bytes"] + row["broker_bytes"] for row in rows_of(path, "connections")}
        monkeypatch.setattr(surroundings, "MOST_BYTES", most_bytes)
        done = run("extract", path, "--finding", "1", "-o", out)
        assert done.exit_code == 0
        part = first_finding(out)
    assert first is not None and part is not None and part[0] == first[0] and part[2] != first[2]
    assert f'alone the extract reads "{part[2]}"' in done.stderr
    copied = {row["connection"] for row in rows_of(out, "connections")}
    assert len(copied) < len(sizes) and (most_bytes == 1 or sum(sizes[each] for each in copied) <= most_bytes)


def test_an_extract_of_a_partition_has_its_whole_story(tmp_path: Path) -> None:
    """Also cut to its exchanges: the same batches and requests, and none of another partition alone."""
    path = ROOT / "tests" / "data" / "partitions" / "ledger-0.pcap.zst"

    def story(capture: Path) -> list[tuple[Any, ...]]:
        told = run("partition", capture, "ledger-0", "--format", "json")
        assert told.exit_code == 0, told.output
        return [tuple(row[name] for name in STORY) for row in json.loads(told.stdout)]

    whole = story(path)
    for number, words in enumerate(((), ("--around", "1ms"))):
        out = tmp_path / f"{number}.pcapng"
        assert run("extract", path, "--partition", "ledger-0", *words, "-o", out).exit_code == 0
        found = story(out)
        assert found == whole if not words else {row[0] for row in found} == {row[0] for row in whole}


def test_bare_and_cut_extracts_hold_what_the_finding_names_alone(tmp_path: Path, kept: KeptDatasets) -> None:
    path = DATA / "broker_killed.pcap.zst"
    counts = {}
    for name, words in {"whole": (), "bare": ("--bare",), "cut": ("--around", "1s")}.items():
        with kept.used():
            extracted(path, "--finding", "1", *words, "-o", tmp_path / f"{name}.pcapng")
        counts[name] = len(rows_of(tmp_path / f"{name}.pcapng", "connections"))
    assert counts["bare"] <= counts["cut"] < counts["whole"]


def test_a_segment_in_ip_fragments_brings_them_all(tmp_path: Path) -> None:
    talk = Conversation().shake()
    for number in range(5):
        talk.exchange(request(number) + bytes(600), reply(number) + bytes(900))
    pieces = []
    for time, data in talk.packets:
        packet = Ether(data)
        for piece in packet[IP].fragment(fragsize=200) if len(packet) > 300 else [packet[IP]]:
            pieces.append((time, bytes(Ether(src=packet.src, dst=packet.dst) / piece)))
    path, out = tmp_path / "whole.pcap", tmp_path / "part.pcapng"
    noise = bytes(Ether() / IP(src="10.9.9.9", dst="10.9.9.8", proto=47) / Raw(b"x" * 40))
    path.write_bytes(pcap([*pieces, (pieces[-1][0], noise)]))
    whole = exchanges(path)
    assert len(whole) == 5
    extracted(path, "--exchange", exchange_id(next(iter(whole))), "-o", out)
    assert exchanges(out) == whole


def test_what_cannot_be_is_refused_in_one_line(tmp_path: Path) -> None:
    path, out = tmp_path / "a.pcap.zst", tmp_path / "part.pcapng"
    shutil.copy(SAMPLES / "old_java.pcap.zst", path)
    before = path.read_bytes()
    for words, said in (
        ((), "say what to extract"),
        (("--finding", "99"), "there is no finding 99"),
        (("--exchange", "00000000000000aa"), "there is no exchange 00000000000000aa"),
        (("--connection", "xyz"), "no id of 16 hex digits"),
        (("--partition", "orders"), "orders is no partition: TOPIC-N is wanted"),
        (("--partition", "nobody-3"), "nothing is about topic nobody"),
    ):
        done = run("extract", path, *words, "-o", out)
        assert done.exit_code == 2 and said in done.output, (words, done.output)
    assert main(["extract", str(path), "--client", "nobody", "-o", str(out)]) == 2
    for words, said in (
        (("--client", "*", "--around", "2s", "-o", out), "--around goes with"),
        (("--client", "*", "-o", tmp_path / "a.zip"), "go with --redact"),
    ):
        assert said in run("extract", path, *words).output
    missing = run("extract", path, "--client", "*", "-o", tmp_path / "nowhere" / "part.pcapng")
    assert missing.exit_code == 2 and "there is no such directory" in missing.output
    done = run("extract", path, "--client", "*", "-o", path)
    assert done.exit_code == 2 and "is one of the captures" in done.output
    assert path.read_bytes() == before and [each.name for each in tmp_path.iterdir()] == ["a.pcap.zst"]


def test_only_the_owner_reads_the_file(tmp_path: Path) -> None:
    out = tmp_path / "part.pcapng"
    extracted(SAMPLES / "old_java.pcap.zst", "--client", "*", "-o", out)
    assert out.stat().st_mode & 0o777 == 0o600


def test_an_export_and_several_files_are_extracted_from_too(tmp_path: Path) -> None:
    paths = [SAMPLES / "old_java.pcap.zst", SAMPLES / "throttle.pcap.zst"]
    tables, from_tables, from_files = tmp_path / "tables", tmp_path / "a.pcapng", tmp_path / "b.pcapng"
    assert run("export", *paths, "--to", tables).exit_code == 0
    extracted(tables, "--api", "Fetch", "-o", from_tables)
    extracted(*paths, "--api", "Fetch", "-o", from_files)
    assert from_tables.read_bytes() == from_files.read_bytes()


def test_a_cut_around_exchanges_keeps_their_rows_and_what_names_them(tmp_path: Path) -> None:
    path, out = SAMPLES / "throttle.pcap.zst", tmp_path / "part.pcapng"
    whole = exchanges(path)
    chance = random.Random("around")
    fetches = sorted(
        each for each, row in whole.items() if row["api_name"] == "Produce" and row["status"] == "answered"
    )
    wanted = chance.choice(fetches)
    extracted(path, "--exchange", exchange_id(wanted), "--around", "200ms", "-o", out)
    found = exchanges(out)
    assert out.stat().st_size < path.stat().st_size and len(found) < len(whole) / 2
    # What earlier requests tell (queue wait, mute) is not there any more, nor the connection's first packet, which its id hashes.
    told = ("api_name", "request_time_ns", "response_end_ns", "latency_ns", "client_id", "request_bytes")
    assert [found[wanted][name] for name in told] == [whole[wanted][name] for name in told]
    row = whole[wanted]
    near = [
        each
        for each, other in whole.items()
        if other["connection"] == row["connection"]
        and abs(other["request_time_ns"] - row["request_time_ns"]) < 100_000_000
    ]
    assert set(near) <= set(found)
    extracted(path, "--exchange", exchange_id(wanted), "--around", "200ms", "--bare", "-o", out)
    assert len(exchanges(out)) < len(found)


def test_one_file_for_a_bug_report(tmp_path: Path) -> None:
    path, out = SAMPLES / "throttle.pcap.zst", tmp_path / "issue.zip"
    assert main(["extract", str(path), "--finding", "1", "--redact", "--comment", "-o", str(out)]) == 0
    assert out.stat().st_mode & 0o777 == 0o600
    with zipfile.ZipFile(out) as bundle:
        assert sorted(bundle.namelist()) == ["capture.pcapng", "manifest.json", "report.txt", "versions.json"]
        bundle.extractall(tmp_path)
    part = tmp_path / "capture.pcapng"
    comments = [row["frame.comment"] for row in tshark(part, ["frame.comment"], "-Y", "frame.comment")]
    assert any("kanalyze finding 1" in text for text in comments)
    report, manifest = ((tmp_path / name).read_text() for name in ("report.txt", "manifest.json"))
    assert "Needs attention" in report and str(tmp_path) not in report and json.loads(manifest)["verified"]
    names = {row["client_id"] for row in rows_of(path) if row["client_id"]} - {
        row["client_id"] for row in rows_of(part)
    }
    assert names
    for text in (report, manifest, part.read_bytes().decode("latin-1")):
        assert [name for name in names if len(name) > 7 and name in text] == []


def test_a_redacted_extract_is_the_redaction_of_the_extract(tmp_path: Path) -> None:
    path, key = SAMPLES / "throttle.pcap.zst", tmp_path / "ours.key"
    part, one, other = (tmp_path / name for name in ("part.pcapng", "one.pcapng", "other.pcapng"))
    assert main(["extract", str(path), "--api", "Fetch", "-o", str(part)]) == 0
    assert main(["extract", str(path), "--api", "Fetch", "--redact", "--key-file", str(key), "-o", str(one)]) == 0
    assert main(["redact", str(part), "--key-file", str(key), "-o", str(other)]) == 0
    assert one.read_bytes() == other.read_bytes()
