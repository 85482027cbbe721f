"""Kafka inside TLS: read with its secrets it is what the broker logged, and without them nothing is read."""

from __future__ import annotations

import csv
import io
import json
import shutil
import struct
import subprocess
from collections import Counter
from itertools import islice
from pathlib import Path

import pytest
from agreement import exchange_reasons, line_reasons, log_differences, match
from oracle import Capture, read_log
from paths import LAB
from program import Analyse, Analysis, Row, found_captures
from test_conservation import assert_conserved
from transform import read_pcap

from analyzer.cli.main import main

NAMES = ("tls12", "tls13", "tls13_embedded")
REQUESTS = 118
CONNECTIONS = 27
CAPTURES = {capture.name: capture for capture in found_captures()}

pytestmark = pytest.mark.skipif("tls13" not in CAPTURES, reason="no shared captures beside the checkout")


def key_logs(name: str) -> tuple[Path, ...]:
    """The secrets of a capture; `tls13_embedded` has them inside."""
    path = LAB / f"{name}.keylog"
    return (path,) if path.exists() else ()


def read(name: str, analyse: Analyse) -> Analysis:
    return analyse(CAPTURES[name].files, key_logs=key_logs(name))


def capture(name: str) -> Capture:
    return CAPTURES[name]


@pytest.mark.parametrize("name", NAMES)
def test_every_logged_request_is_read_as_the_broker_read_it(name: str, analyse: Analyse) -> None:
    found = match(read(name, analyse).exchanges, read_log(capture(name).log))
    assert len(found.pairs) == REQUESTS
    assert not list(islice((text for line, row in found.pairs for text in log_differences(line, row)), 20))
    assert not line_reasons(found) and not exchange_reasons(found)
    for line, row in found.pairs:
        # The broker cannot have begun before the request was there, nor have ended much before the reply left.
        assert row["request_end_ns"] <= line.started_ns + 2_000_000
        assert row["response_time_ns"] <= line.logged_ns + 2_000_000


@pytest.mark.parametrize("name", NAMES)
def test_connections_say_how_they_are_encrypted(name: str, analyse: Analyse) -> None:
    found = read(name, analyse)
    assert_conserved(found)
    version, cipher = {
        "tls12": ("TLSv1.2", "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"),
        "tls13": ("TLSv1.3", "TLS_AES_256_GCM_SHA384"),
    }[name.removesuffix("_embedded")]
    assert len(found.connections) == CONNECTIONS
    for row in found.connections:
        assert (row["tls"], row["tls_decrypted"], row["tls_reason"]) == (True, True, None)
        assert (row["protocol"], row["security"]) == ("kafka", "ssl")
        assert (row["tls_version"], row["tls_cipher"]) == (version, cipher)
        assert row["client_skipped_encrypted_bytes"] == row["broker_skipped_encrypted_bytes"] == 0
        # A record costs 22 bytes in TLS 1.3 and 29 in TLS 1.2, and a handshake some hundred.
        assert row["client_tls_overhead_bytes"] > 22 * row["requests"]
        assert row["broker_tls_overhead_bytes"] > 22 * row["replies"] + 500
    assert not found.problems


def tshark_frames(name: str) -> list[tuple[int, ...]]:
    """(packet, time ns, client port, bytes, correlation id, api key, version) of every Kafka frame, as tshark decrypts it.

    It names the packet in which a frame ended.
    """
    if not shutil.which("tshark"):
        pytest.skip("no tshark")
    fields = ("frame.number", "frame.time_epoch", "tcp.srcport", "tcp.dstport", "kafka.len", "kafka.correlation_id")
    command = ["tshark", "-r", str(capture(name).files[0]), "-d", "tcp.port==9096,tls", "-d", "tls.port==9096,kafka"]
    command += [word for path in key_logs(name) for word in ("-o", f"tls.keylog_file:{path}")]
    command += ["-Y", "kafka", "-T", "fields", "-E", "occurrence=a"]
    command += [word for field in fields for word in ("-e", field)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rows = []
    for number, time, source, target, sizes, correlations in csv.reader(io.StringIO(text), delimiter="\t"):
        seconds, _, fraction = time.partition(".")
        time_ns = int(seconds) * 1_000_000_000 + int(fraction.ljust(9, "0")[:9])
        port = int(target) if source == "9096" else -int(source)
        for size, correlation in zip(sizes.split(","), correlations.split(","), strict=True):
            rows.append((int(number), time_ns, port, int(size), int(correlation)))
    return rows


@pytest.mark.parametrize("name", NAMES)
def test_every_frame_ends_where_tshark_sees_it_end(name: str, analyse: Analyse) -> None:
    frames = tshark_frames(name)
    assert len(frames) == 2 * REQUESTS
    found = read(name, analyse).exchanges
    ends = Counter((time, port, size, correlation) for _, time, port, size, correlation in frames)
    ours = Counter(ends_of(found))
    assert ours == ends
    # A message that is in one packet begins where it ends.
    packets = {(port, correlation, number) for number, _, port, _, correlation in frames}
    single = [row for row in found if row["request_time_ns"] == row["request_end_ns"]]
    assert len(single) > REQUESTS * 0.9
    for row in single:
        assert (-row["client_port"], row["correlation_id"], row["request_packet"]) in packets


def ends_of(found: list[Row]) -> list[tuple[int, int, int, int]]:
    requests = [
        (row["request_end_ns"], -row["client_port"], row["request_bytes"] - 4, row["correlation_id"]) for row in found
    ]
    replies = [
        (row["response_end_ns"], row["client_port"], row["response_bytes"] - 4, row["correlation_id"]) for row in found
    ]
    return requests + replies


def test_secrets_inside_the_capture_do_as_well(analyse: Analyse) -> None:
    """The same packets, once with a key log file and once with a Decryption Secrets Block."""
    outside, inside = read("tls13", analyse), read("tls13_embedded", analyse)
    assert inside.exchanges == outside.exchanges
    assert inside.connections == outside.connections


@pytest.mark.parametrize("name", ["tls12", "tls13"])
def test_without_secrets_nothing_is_read(name: str, analyse: Analyse) -> None:
    found = analyse(capture(name).files)
    assert_conserved(found)
    assert not found.exchanges and not found.errors and not found.problems
    assert len(found.connections) == CONNECTIONS
    for row in found.connections:
        assert (row["protocol"], row["security"], row["tls"]) == ("tls", "ssl", True)
        assert row["is_kafka"] is False
        assert (row["tls_decrypted"], row["tls_reason"]) == (False, "no_keys")
        assert row["tls_version"] and row["tls_cipher"]


def test_secrets_of_others_open_nothing(analyse: Analyse, tmp_path: Path) -> None:
    """The secrets of another session under the name of this one, and the secrets of another capture."""
    lines = [line.split() for line in (LAB / "tls13.keylog").read_text().splitlines() if line[:1] != "#"]
    wrong = tmp_path / "wrong.keylog"
    wrong.write_text("".join(f"{label} {random} {secret[::-1]}\n" for label, random, secret in lines))
    found = analyse(capture("tls13").files, key_logs=(wrong,))
    assert not found.exchanges
    assert {row["tls_reason"] for row in found.connections} == {"wrong_keys"}
    assert_conserved(found)
    foreign = analyse(capture("tls13").files, key_logs=key_logs("tls12"))
    assert {row["tls_reason"] for row in foreign.connections} == {"no_keys"}


@pytest.mark.parametrize("block_bytes", [1_000, 20_000])
def test_blocks_of_any_size_give_the_same_rows(block_bytes: int, analyse: Analyse) -> None:
    for name in NAMES:
        found = analyse(capture(name).files, key_logs=key_logs(name), block_bytes=block_bytes)
        assert found.exchanges == read(name, analyse).exchanges


def test_bodies_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    for name in NAMES:
        arguments = [word for path in key_logs(name) for word in ("--tls-keylog", str(path))]
        assert main(["dump", str(capture(name).files[0]), *arguments]) == 0
        lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert len(lines) == REQUESTS
        assert all(line["request"] is not None and line["response"] is not None for line in lines)


def as_pcapng(path: Path, target: Path, secrets: bytes, before_packet: int) -> Path:
    """The packets of a pcap file as pcapng, with a Decryption Secrets Block before one of them."""

    def block(kind: int, body: bytes) -> bytes:
        body += b"\0" * (-len(body) % 4)
        size = struct.pack("<I", len(body) + 12)
        return struct.pack("<I", kind) + size + body + size

    _, packets = read_pcap(path)
    keys = block(10, struct.pack("<II", 0x544C534B, len(secrets)) + secrets)
    with target.open("wb") as file:
        file.write(block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)))
        file.write(block(1, struct.pack("<HHI", 1, 0, 0)))
        for number, packet in enumerate(packets, 1):
            if number == before_packet:
                file.write(keys)
            time_us = packet.seconds * 1_000_000 + packet.fraction
            head = struct.pack("<IIIII", 0, time_us >> 32, time_us & 0xFFFFFFFF, len(packet.data), packet.wire_bytes)
            file.write(block(6, head + packet.data))
        if before_packet > len(packets):
            file.write(keys)
    return target


@pytest.mark.parametrize("before_packet", [1, 5, 400, 10_000])
def test_secrets_may_come_later_than_their_packets(
    before_packet: int, analyse: Analyse, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Secrets in the middle or at the end of the capture: the file is read once more, for tables and for bodies."""
    secrets = (LAB / "tls12.keylog").read_bytes()
    path = as_pcapng(capture("tls12").files[0], tmp_path / "late.pcapng", secrets, before_packet)
    found = analyse([path])
    assert found.exchanges == read("tls12", analyse).exchanges
    assert_conserved(found)
    assert main(["dump", str(path)]) == 0
    told = capsys.readouterr()
    assert len(told.out.splitlines()) == REQUESTS
    assert not told.err


def test_a_broken_key_log_is_told_of_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    secrets = (LAB / "tls13.keylog").read_text()
    broken = tmp_path / "broken.keylog"
    junk = b"CLIENT_RANDOM 00 11\nSERVER_TRAFFIC_SECRET_0 zz zz\n\xff\xfe\0\n" + b"x" * 100_000 + b"\n"
    broken.write_bytes(junk + secrets.encode())
    asked = ["sql", str(capture("tls13").files[0]), "SELECT count(*) AS n FROM exchanges", "--format", "csv"]
    assert main([*asked, "--tls-keylog", str(broken)]) == 0
    told = capsys.readouterr()
    assert told.out.split() == ['"n"', str(REQUESTS)]
    assert len(told.err.splitlines()) == 1 and "skipped 4 lines that are not in key log format" in told.err
    assert main([*asked, "--tls-keylog", str(tmp_path / "missing")]) == 2
    assert "missing" in capsys.readouterr().err


def test_no_secret_is_told(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """None of the secrets, as hex or as bytes, is in any table or on the screen."""
    path = LAB / "tls13.keylog"
    target = tmp_path / "tables"
    assert main(["export", str(capture("tls13").files[0]), "--to", str(target), "--tls-keylog", str(path)]) == 0
    assert main([str(capture("tls13").files[0]), "--tls-keylog", str(path)]) == 0
    told = capsys.readouterr()
    files = [file.read_bytes() for file in target.rglob("*") if file.is_file()]
    assert files
    for line in path.read_text().splitlines():
        if line[:1] == "#":
            continue
        secret = line.split()[2]
        assert secret not in told.out + told.err
        assert not any(secret.encode() in data or bytes.fromhex(secret) in data for data in files)
