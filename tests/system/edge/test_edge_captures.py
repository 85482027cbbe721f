"""Captures that are hard to read, made by others: right counts, no Kafka, one clear line for what is passed over.

tshark's counts are the other opinion; where ours differ the reason is listed. KANALYZE_LONG=1 reads every file in a
process of its own too, with and without `--ports`, for its time and memory.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple

import pytest
from capture_tools import enhanced, interface, section
from edge_files import Counted, edge_files, name_of
from effort import one_in
from paths import ROOT

from analyzer.base.options import Options
from analyzer.cli.main import main
from analyzer.inputs.sources import InputError
from analyzer.run.local import open_dataset

SECONDS = 10.0
MOST_MEMORY_BYTES = 300 << 20

pytestmark = pytest.mark.skipif(not edge_files(), reason="no shared captures beside the checkout")


class Ours(NamedTuple):
    """Packets, those of TCP, connections; and why these numbers are not tshark's."""

    packets: int
    tcp_packets: int
    connections: int
    why: str


OTHERWISE = {
    "split-handshake-5whs.pcap": Ours(
        8, 8, 1, "both sides send a SYN, none is refused: one connection (RFC 9293, 3.5)"
    ),
    "test901.pcapng": Ours(2, 0, 0, "tshark does not open it: a section of version 2.0 in the middle"),
    "fuzz-2006-09-29-28586.pcap": Ours(131, 114, 36, "three TCP headers whose length is impossible are no connections"),
    "ip_fragmented_garbage.pcap": Ours(
        1252, 626, 2, "datagrams of 313 fragments: two hold a TCP header, two an impossible one"
    ),
    "solaris.snoop": Ours(0, 0, 0, "no capture format that we read"),
    "simson.pcap": Ours(303, 0, 0, "6 bytes of each TCP header: ports and no more"),
    "linktype-reserved-field-not-zero.pcap": Ours(0, 0, 0, "tshark does not open it"),
    "pcapng-invalid-vers-2.pcapng": Ours(1, 0, 0, "tshark does not open it: version 1.1, which only adds"),
    "shb-option-too-long.pcapng": Ours(0, 0, 0, "tshark does not open it: damaged at byte 0"),
    "erspan.pcap": Ours(287, 145, 5, "the 39 fragments of tunnelled segments count as what they were put together to"),
    "vlan-pcp-dei.pcapng": Ours(9, 9, 3, "one handshake in two VLANs and without: three networks, three connections"),
}

# File -> words of each line about what is passed over or odd. For all others stderr is silent.
SAID: dict[str, str | tuple[str, ...]] = {
    "test901.pcapng": "unknown version 2.0",
    "truncated_dns_2.pcap": "ends in the middle of a packet",
    "fuzz-2021-10-13.pcap": "ends in the middle of a packet",
    "pcapng-example.pcapng.zst": ("an impossible timestamp", "packet 2: its time is more than 2 s ahead"),
    "pcapng-example.pcapng": ("an impossible timestamp", "packet 2: its time is more than 2 s ahead"),
    "bug8.pcap": "packet 1: its time is more than 2 s ahead",
    "fuzz-2006-09-29-28586.pcap": "2 impossible IP fragments",
    "microsecs_big_endian.pcap": "13 packets skipped: unsupported link type",
    "solaris.snoop": "got a snoop capture",
    "linktype-reserved-field-not-zero.pcap": "reserved bits of the link type field are set",
    "shb-option-too-long.pcapng": "damaged at byte 0",
    "grpc_web.pcapng.gz": "the time jumps back by more than 2 s",
} | dict.fromkeys(
    (
        *("tcp-n-syn-ack.pcap", "http-ooo2.pcap", "tcp-badsegments.pcap"),
        *("test001.pcapng", "test008.pcapng", "test012.pcapng"),
    ),
    "all packets are dated 1970",
)
UNREADABLE = {"solaris.snoop", "shb-option-too-long.pcapng"}


def wanted(file: Counted) -> tuple[int, int, int]:
    if file.path.name in OTHERWISE:
        return OTHERWISE[file.path.name][:3]
    assert file.packets is not None, "tshark does not open it: say what we find"
    return file.packets, file.tcp_packets, file.tcp_streams


def counted(file: Counted) -> tuple[tuple[int, int, int], tuple[int, ...]]:
    """Packets, TCP packets and connections; all ports of TCP."""
    try:
        with open_dataset([str(file.path)], Options()) as dataset:
            (row,) = dataset.query("select packets, tcp_packets from captures")
            parts = dataset.query("select a_port, b_port from raw_parts")
            exchanges = dataset.query("select count(*) as n from exchanges")
    except InputError:
        return (0, 0, 0), ()
    assert exchanges == [{"n": 0}], "Kafka where there is none"
    ports = {port for part in parts for port in part.values()}
    return (row["packets"], row["tcp_packets"], len(parts)), tuple(sorted(ports))


def run(arguments: Sequence[str]) -> tuple[int, str, list[str]]:
    """Exit code, stdout, lines of stderr of a command in this process."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = main(list(arguments))
    return code, out.getvalue(), err.getvalue().splitlines()


def some_files() -> list[Counted]:
    """All that something is said about, and every eighth one of the others."""
    odd = [file for file in edge_files() if file.path.name in OTHERWISE.keys() | SAID.keys() | UNREADABLE]
    return odd + [file for file in edge_files() if file not in odd][:: one_in(8)]


@pytest.mark.parametrize("file", some_files(), ids=name_of)
def test_counts_and_no_kafka(file: Counted) -> None:
    """The report, with the file's own TCP ports named where it has some: even then nothing in it is Kafka."""
    begin = time.perf_counter()
    found, ports = counted(file)
    assert found == wanted(file)
    named = ("--ports", ",".join(map(str, ports))) if ports else ()
    code, out, said = run(["report", str(file.path), *named])
    check_end(file, code, said)
    readable = file.path.name != "solaris.snoop"
    assert ("No Kafka" in out or "no Kafka" in out) == readable, out
    assert time.perf_counter() - begin < 2 * SECONDS


@pytest.mark.parametrize("name", ["simson.pcap", "test.pcap"])
def test_headers_that_are_cut_are_told_from_other_protocols(name: str) -> None:
    """A snap length of 40 bytes, packets of a few: whoever captured this needs to hear of `tcpdump -s`."""
    (path,) = [str(file.path) for file in edge_files() if file.path.name == name]
    _, out, _ = run(["report", path])
    assert "truncated or damaged" in out and "tcpdump -s 0" in out, out


def check_end(file: Counted, code: int, said: Sequence[str]) -> None:
    name = file.path.name
    assert code == (2 if name in UNREADABLE else 0), said
    assert not any("Traceback" in line or "bug of ours" in line for line in said), said
    if name not in SAID:
        assert not said
        return
    words = SAID[name]
    for line, expected in zip(said, (words,) if isinstance(words, str) else words, strict=True):
        assert name in line and expected in line, said


def test_packets_of_an_interface_that_is_not_there(tmp_path: Path) -> None:
    """Their link type is nobody's: no number is shown for it, and the link types that were read are not blamed."""
    (tmp_path / "odd.pcapng").write_bytes(
        section() + interface(1) + enhanced(bytes(60)) + enhanced(bytes(60), number=7)
    )
    code, out, said = run(["report", str(tmp_path / "odd.pcapng")])
    assert code == 2  # the file is broken, and what could be read is reported
    passed_over = [line for line in said if "1 packet skipped" in line]
    assert len(passed_over) == 1 and "(undeclared interface)" in passed_over[0], said
    assert "-9223372036854775808" not in out + "".join(said)


def test_every_reason_is_needed() -> None:
    """A file for which tshark's counts would do is not listed as one of ours."""
    names = {file.path.name: file for file in edge_files()}
    for name, ours in OTHERWISE.items():
        file = names[name]
        assert ours[:3] != (file.packets, file.tcp_packets, file.tcp_streams), name


PROGRAM = "import re, sys; from analyzer.cli.main import main; code = main(sys.argv[1:]); " + (
    # Not ru_maxrss: that begins with the memory of the process that started this one.
    "print(code, re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1], file=sys.stderr)"
)


def measured(arguments: Sequence[str]) -> tuple[int, float, int]:
    """Exit code, seconds and peak memory in bytes of a run in a process of its own."""
    begin = time.perf_counter()
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", PROGRAM, *arguments]
    done = subprocess.run(command, capture_output=True, env=environment, timeout=120, check=True)
    code, memory = done.stderr.split()[-2:]
    return int(code), time.perf_counter() - begin, int(memory) * 1024


def test_memory_of_one_process_for_all() -> None:
    """All files at once, as one capture: more state than any of them alone."""
    paths = [str(file.path) for file in edge_files() if file.path.name not in UNREADABLE]
    code, seconds, memory = measured(["report", "--format", "json", *paths])
    print(f"{len(paths)} files: {seconds:.1f} s, {memory >> 20} MiB")
    assert code == 0
    assert seconds < SECONDS
    assert memory < MOST_MEMORY_BYTES


@pytest.mark.skipif(not os.environ.get("KANALYZE_LONG"), reason="a process per file: KANALYZE_LONG=1")
@pytest.mark.parametrize("file", edge_files(), ids=name_of)
def test_time_and_memory_of_each(file: Counted) -> None:
    ports = counted(file)[1]
    for named in ((), ("--ports", ",".join(map(str, ports)))) if ports else ((),):
        code, seconds, memory = measured(["report", str(file.path), *named])
        print(f"{name_of(file)} {' '.join(named)}: {seconds:.1f} s, {memory >> 20} MiB")
        assert code == (2 if file.path.name in UNREADABLE else 0)
        assert seconds < SECONDS
        assert memory < MOST_MEMORY_BYTES
