"""Bad input: one clear line that names the file, exit code 2, the others reported all the same; no traceback.

Captures are built by hand from the formats' descriptions (draft-ietf-opsawg-pcap), or taken from samples/.
"""

from __future__ import annotations

import json
import os
import signal
import struct
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from kanalyze_process import AS_INSTALLED, COMMAND
from paths import ROOT, SAMPLES

Run = Callable[..., Any]

ETHERNET = 1


def pcap(*packets: bytes, link: int = ETHERNET, start_s: int = 1_700_000_000) -> bytes:
    """A little-endian microsecond pcap file, a packet per second."""
    head = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, link)
    times = range(start_s, start_s + len(packets))
    heads = (struct.pack("<IIII", at, 0, len(each), len(each)) for at, each in zip(times, packets, strict=True))
    return head + b"".join(first + each for first, each in zip(heads, packets, strict=True))


def tcp(payload: bytes, source: int, target: int, sequence: int) -> bytes:
    """An Ethernet frame with IPv4 and TCP from 10.0.0.1 to 10.0.0.2."""
    segment = struct.pack(">HHIIBBHHH", source, target, sequence, 0, 0x50, 0x18, 65535, 0, 0) + payload
    addresses = bytes([10, 0, 0, 1, 10, 0, 0, 2])
    packet = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(segment), 1, 0, 64, 6, 0) + addresses + segment
    return bytes(12) + b"\x08\x00" + packet


# An ApiVersions v0 request with client id "probe", whole.
REQUEST = bytes.fromhex("0000000f" + "0012" + "0000" + "00000001" + "0005") + b"probe"
WEB = pcap(
    tcp(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", 40000, 8080, 1), tcp(b"GET /again HTTP/1.1\r\n\r\n", 40000, 8080, 27)
)


@pytest.fixture
def kafka() -> Path:
    """A capture of the samples that is whole and small."""
    return ROOT / "samples" / "old_java.pcap.zst"


def lines(stderr: bytes) -> list[str]:
    """What was said, without the line that an uncompiled installation says."""
    text = stderr.decode()
    assert "Traceback" not in text and "bug" not in text, text
    return [line for line in text.splitlines() if "uncompiled" not in line]


def bad_files(folder: Path) -> dict[str, str]:
    """Name -> a word that the line about it must hold."""
    (folder / "empty.pcap").write_bytes(b"")
    (folder / "text.pcap").write_bytes(b"this is no capture at all, only words\n" * 10)
    (folder / "none").mkdir()
    (folder / "none" / "notes.txt").write_text("x")
    (folder / "short.pcap").write_bytes(pcap()[:11])
    (folder / "broken.pcap.gz").write_bytes(b"\x1f\x8b\x08\x00nonsense")
    return dict.fromkeys(("missing.pcap", "empty.pcap", "text.pcap", "none", "short.pcap", "broken.pcap.gz"), "")


@pytest.mark.parametrize("verb", ["report", "exchanges", "dump", "sql", "export", "show"])
def test_each_bad_input_is_one_line_and_2(kanalyze: Run, tmp_path: Path, verb: str) -> None:
    after = {"sql": ["select 1"], "show": ["#1"], "export": ["--table", "exchanges"]}.get(verb, [])
    for name in bad_files(tmp_path):
        done = kanalyze(verb, name, *after)
        said = lines(done.stderr)
        assert done.returncode == 2, (name, done)
        assert len(said) == 1 and name in said[0], (name, said)
        assert done.stdout == b"", (name, done.stdout)


def test_the_others_are_reported_all_the_same(kanalyze: Run, tmp_path: Path, kafka: Path) -> None:
    bad = list(bad_files(tmp_path))
    alone = kanalyze("exchanges", kafka, "--format", "jsonl")
    assert alone.returncode == 0 and len(alone.stdout.splitlines()) > 10
    done = kanalyze("exchanges", *bad, kafka, "--format", "jsonl")
    said = lines(done.stderr)
    assert done.returncode == 2
    assert all(sum(name in line for line in said) == 1 for name in bad)
    assert said[len(bad) :] == ["kanalyze: Read in part: an input could not be read or is damaged."]
    drop = ("request_file", "response_file")
    facts = [
        [{k: v for k, v in json.loads(line).items() if k not in drop} for line in run.stdout.splitlines()]
        for run in (alone, done)
    ]
    assert facts[0] == facts[1]


@pytest.mark.parametrize("words", [["sql", "select 1", "--client"], ["groups", "--group"], ["report", "--topic"]])
def test_a_filter_that_is_no_text_is_one_line_and_2(kanalyze: Run, kafka: Path, words: list[str]) -> None:
    verb, *more = words
    done = kanalyze(verb, kafka, *more, os.fsdecode(b"a\xff"))
    said = lines(done.stderr)
    assert done.returncode == 2 and len(said) == 1 and "UTF-8" in said[0] and done.stdout == b""


def test_a_capture_behind_the_statement_is_told(kanalyze: Run, kafka: Path) -> None:
    done = kanalyze("sql", "select 1", kafka)
    said = lines(done.stderr)
    assert done.returncode == 2 and len(said) == 1 and "the statement comes last" in said[0] and kafka.name in said[0]


@pytest.mark.parametrize("name", ["file", "file/below"])
def test_export_to_a_file_is_refused_before_anything_is_read(kanalyze: Run, tmp_path: Path, name: str) -> None:
    """The capture that is not there would be told of if it had been looked for."""
    (tmp_path / "file").write_text("mine")
    done = kanalyze("export", "missing.pcap", "--to", name)
    assert done.returncode == 2 and lines(done.stderr) == ["kanalyze: file: is a file; name a new directory"]
    assert (tmp_path / "file").read_text() == "mine"


def test_unreadable_by_permission(kanalyze: Run, tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root reads everything")
    (tmp_path / "closed.pcap").write_bytes(WEB)
    (tmp_path / "closed.pcap").chmod(0)
    done = kanalyze("closed.pcap")
    assert done.returncode == 2 and "closed.pcap" in lines(done.stderr)[0]


def test_a_file_cut_in_a_packet_counts_as_far_as_it_goes(kanalyze: Run, tmp_path: Path) -> None:
    whole = pcap(tcp(REQUEST, 40000, 9092, 1), tcp(REQUEST, 40000, 9092, 1 + len(REQUEST)))
    (tmp_path / "cut.pcap").write_bytes(whole[:-7])
    done = kanalyze("sql", "cut.pcap", "select packets, cut from captures", "--format", "jsonl")
    assert done.returncode == 0 and json.loads(done.stdout) == {"packets": 1, "cut": True}
    said = lines(done.stderr)
    assert len(said) == 2 and "cut.pcap" in said[0] and said[0].endswith("copy the file again")
    assert said[1] == "kanalyze: Read in part: the capture is cut off before the end."


def test_unknown_link_type_is_said(kanalyze: Run, tmp_path: Path) -> None:
    (tmp_path / "odd.pcap").write_bytes(pcap(b"\x00" * 60, b"\x00" * 60, link=250))
    done = kanalyze("odd.pcap")
    said = lines(done.stderr)
    assert done.returncode in (0, 2) and len(said) == 1 and "odd.pcap" in said[0] and "link" in said[0]


def test_a_clock_of_1970_is_told(kanalyze: Run, tmp_path: Path) -> None:
    (tmp_path / "old.pcap").write_bytes(pcap(tcp(REQUEST, 40000, 9092, 1), start_s=5))
    done = kanalyze("old.pcap")
    said = lines(done.stderr)
    assert done.returncode == 0 and len(said) == 1 and "old.pcap" in said[0] and "1970" in said[0]


def test_a_clock_of_1970_among_others_is_told(kanalyze: Run, tmp_path: Path) -> None:
    (tmp_path / "mixed.pcap").write_bytes(WEB + pcap(tcp(b"later", 40000, 8080, 49), start_s=5)[24:])
    result = kanalyze("mixed.pcap", cwd=tmp_path)
    assert any("some packets are dated 1970" in line for line in lines(result.stderr))


def test_notes_that_differ_in_numbers_alone_are_few_lines(kanalyze: Run, tmp_path: Path) -> None:
    """A pcapng without interfaces: each packet names another one that is not declared."""
    section = struct.pack("<IIIHHqI", 0x0A0D0D0A, 28, 0x1A2B3C4D, 1, 0, -1, 28)
    packets = (struct.pack("<IIIIIIII", 6, 32, number, 0, 0, 0, 0, 32) for number in range(50))
    (tmp_path / "bare.pcapng").write_bytes(section + b"".join(packets))
    told = [line for line in lines(kanalyze("bare.pcapng", cwd=tmp_path).stderr) if "is not declared" in line]
    assert [line.endswith("(47 more like this)") for line in told] == [False, False, True]


@pytest.mark.parametrize("head", [b"snoop\0\0\0\0\0\0\2\0\0\0\4", b"GMBU\0\2", b"RTSS\1\1"])
def test_captures_of_other_programs_are_told_how_to_convert(kanalyze: Run, tmp_path: Path, head: bytes) -> None:
    """Also in a directory, where files that are no captures are passed over."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "other.cap").write_bytes(head + bytes(400))
    (tmp_path / "folder" / "notes.txt").write_text("x")
    for place in ("folder/other.cap", "folder"):
        done = kanalyze(place)
        said = lines(done.stderr)
        assert done.returncode == 2 and len(said) == 1 and "editcap -F pcapng" in said[0] and "other.cap" in said[0]


@pytest.mark.parametrize(
    "verb", ["report", "dump", "exchanges --format csv", "export --table entries --format parquet"]
)
def test_a_full_standard_output_is_no_matter_of_temporary_files(tmp_path: Path, kafka: Path, verb: str) -> None:
    name, *more = verb.split()
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*COMMAND, name, str(kafka), *more],
            stdout=full,
            stderr=-1,
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
    assert done.returncode == 2 and lines(done.stderr) == ["kanalyze: standard output: no space left"]


def test_no_kafka_says_what_was_seen_and_what_to_try(kanalyze: Run, tmp_path: Path) -> None:
    (tmp_path / "web.pcap").write_bytes(WEB)
    done = kanalyze("web.pcap")
    text = done.stdout.decode()
    assert done.returncode == 0 and lines(done.stderr) == []
    assert "8080" in text and "--ports" in text and "Kafka" in text


def test_ports_override_what_the_content_says(kanalyze: Run, kafka: Path) -> None:
    count = ("select count(*) as n from exchanges", "--format", "jsonl")
    everything = json.loads(kanalyze("sql", kafka, *count).stdout)["n"]
    nothing = json.loads(kanalyze("sql", kafka, *count, "--ports", "1").stdout)["n"]
    assert everything > 10 and nothing == 0


@pytest.mark.parametrize("verb", [["exchanges", "--format", "jsonl"], ["dump"], ["report"], ["exchanges"]])
def test_standard_input(kanalyze: Run, kafka: Path, verb: list[str]) -> None:
    done = kanalyze(verb[0], "-", *verb[1:], stdin=kafka.read_bytes())
    assert done.returncode == 0 and lines(done.stderr) == [] and len(done.stdout.splitlines()) > 3


def test_accounts_are_made_of_columns_that_the_report_of_a_large_input_leaves_out(kanalyze: Run) -> None:
    done = kanalyze("findings", "-", stdin=(SAMPLES / "groups_classic.pcap.zst").read_bytes())
    assert done.returncode == 0 and b"Impact that findings explain" in done.stdout


@pytest.mark.parametrize("verb", ["dump", "exchanges --format csv", "exchanges", "report", "export --table entries"])
def test_a_closed_pipe_is_silent(tmp_path: Path, kafka: Path, verb: str) -> None:
    """The reader goes away before, or while, the rows come."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)}
    for read in (0, 1):
        name, *more = verb.split()
        with subprocess.Popen([*COMMAND, name, str(kafka), *more], stdout=-1, stderr=-1, env=env) as process:
            assert process.stdout is not None and process.stderr is not None
            if read:
                process.stdout.readline()
            process.stdout.close()
            said = lines(process.stderr.read())
            assert process.wait(60) == 0 and said == []
    assert list(tmp_path.iterdir()) == []


@contextmanager
def reading(tmp_path: Path, given: bytes) -> Iterator[subprocess.Popen[bytes]]:
    """A report of standard input, which stays open behind `given`: the run surely is not over. Nothing of it is left behind."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)}
    with subprocess.Popen([*COMMAND, "report", "-"], stdin=-1, stdout=-1, stderr=-1, env=env) as process:
        assert process.stdin is not None
        process.stdin.write(given)
        process.stdin.flush()
        deadline = time.monotonic() + 30
        # Of an empty pipe the first byte is waited for before anything else.
        while not (begun := list(tmp_path.iterdir()) if given else _waits(process.pid)) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert begun, "the run did not begin"
        # Past the imports: what Cython generates for them has an `except: pass` that can eat a signal's exception.
        time.sleep(1)
        yield process
    assert list(tmp_path.iterdir()) == []


def _waits(pid: int) -> bool:
    """Whether a process used no time of a processor for a second, after it had used some."""

    def used() -> int:
        return sum(map(int, Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]))

    before = used()
    time.sleep(1)
    return used() == before > 0


@pytest.mark.parametrize(("number", "given", "code"), [(signal.SIGINT, b"", 130), (signal.SIGTERM, WEB, 143)])
def test_interrupted_runs_end_tidily(tmp_path: Path, number: signal.Signals, given: bytes, code: int) -> None:
    with reading(tmp_path, given) as process:
        assert process.stdout is not None and process.stderr is not None
        process.send_signal(number)
        assert process.wait(30) == code
        said = lines(process.stderr.read())
        assert said == (["kanalyze: interrupted"] if number == signal.SIGINT else [])
        assert process.stdout.read() == b""


def test_ctrl_c_ends_reading_and_reports_what_came(tmp_path: Path, kafka: Path) -> None:
    """As in `tcpdump -w - | kanalyze -`, where the terminal sends it to both; who writes on does not stop us."""
    with reading(tmp_path, kafka.read_bytes()) as process:
        assert process.stdout is not None and process.stderr is not None
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
        assert b"11 clients" in process.stdout.read() and lines(process.stderr.read()) == []


def test_a_second_ctrl_c_stops(tmp_path: Path) -> None:
    with reading(tmp_path, WEB) as process:
        assert process.stdout is not None and process.stderr is not None
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
        assert (lines(process.stderr.read()), process.stdout.read()) == (["kanalyze: interrupted"], b"")


def test_temporary_files_go_where_they_are_told_and_away(kanalyze: Run, tmp_path: Path, kafka: Path) -> None:
    (tmp_path / "room").mkdir()
    done = kanalyze(kafka, "--temp-dir", tmp_path / "room", TMPDIR="/nonexistent")
    assert done.returncode == 0 and list((tmp_path / "room").iterdir()) == []


def test_nothing_but_data_on_a_pipe(kanalyze: Run, kafka: Path) -> None:
    for words in (["report"], ["exchanges"], ["show"]):
        more = ["#4"] if words == ["show"] else []
        done = kanalyze(*words, kafka, *more)
        assert b"\x1b" not in done.stdout + done.stderr and lines(done.stderr) in ([], [done.stderr.decode().rstrip()])


def test_uncompiled_stages_say_so_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "web.pcap").write_bytes(WEB)
    env = {**os.environ, "KANALYZE_UNCOMPILED": "1"}
    done = subprocess.run([*AS_INSTALLED, tmp_path / "web.pcap"], capture_output=True, cwd=ROOT, env=env, timeout=60)
    assert done.returncode == 0 and done.stderr.count(b"\n") == 1 and b"uncompiled" in done.stderr
    decode = subprocess.run([*AS_INSTALLED, "decode"], input=b"", capture_output=True, cwd=ROOT, env=env, timeout=60)
    assert decode.stderr == b""


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (b"GET / HTTP/1.1\n", "not a readable capture"),
        (b"\x28\xb5\x2f\xfd" + bytes(60), "cannot be followed; unpack it first"),
    ],
)
def test_watch_says_what_it_cannot_read(kanalyze: Run, given: bytes, words: str) -> None:
    done = kanalyze("watch", "-", "--format", "jsonl", stdin=given)
    said = done.stderr.decode().splitlines()
    assert done.returncode == 2
    assert len(said) == 1 and said[0].startswith("kanalyze: standard input: ") and words in said[0]
