"""Connections that have no slot while they are idle: what is read of them, and what memory they take."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest
from capture_tools import pcap_file, read_packets, unpacked
from effort import in_turn
from paths import LAB, ROOT, SAMPLES
from scapy.layers.inet import TCP
from scapy.layers.l2 import Ether

from analyzer.base import memory
from analyzer.base.options import Options
from analyzer.ingest import idle_connections, pipeline
from analyzer.ingest.idle_connections import IdleConnections
from analyzer.run import local
from dissectors import layout

TABLES = ("connections", "exchanges", "entries", "errors", "problems")
CAPTURES = (*(SAMPLES / f"{name}.pcap.zst" for name in ("groups_848", "ipv6", "versions")), LAB / "tls12.pcap")
# Resident memory, with what the process keeps beside the cells: 435 to 480 were measured.
IDLE_BYTES = 510
# What threads and the allocator keep for later, some megabytes, is given back before memory is looked at.
PROGRAM = """
import ctypes
import gc
import sys
from pathlib import Path
from analyzer.base.options import Options
from analyzer.ingest.pipeline import Pipeline
from analyzer.inputs.sources import Source
from analyzer.run.one_pass import read_captures

def told(self):
    gc.collect()
    if hasattr(ctypes.CDLL(None), "malloc_trim"):
        ctypes.CDLL(None).malloc_trim(0)
    lines = dict(line.split(":", 1) for line in open("/proc/self/status"))
    print(lines["VmRSS"].split()[0], self._idle.parked)
    finish(self)

finish, Pipeline.finish = Pipeline.finish, told
path = Path(sys.argv[1])
read_captures([Source("idle", path, path.stat().st_size)], Path(sys.argv[2]), Options(tables=(), max_connections=1_000_000))
"""


def made(path: Path, kind: str, count: int) -> Path:
    script = ROOT / "bench" / "make_connections.py"
    subprocess.run([sys.executable, str(script), kind, str(count), str(path)], check=True, capture_output=True)
    return path


def rows_of(path: Path, **options: Any) -> tuple[dict[str, list[str]], str]:
    """All rows of all tables, and the warnings."""
    with local.open_dataset([str(path)], Options(**options)) as dataset:
        rows = {table: sorted(map(repr, dataset.query(f"select * from {table}"))) for table in TABLES}
        return rows, "\n".join(dataset.warnings)


@pytest.mark.parametrize(
    ("path", "room"), in_turn(CAPTURES, [4, 9], every=2), ids=lambda each: each.name if isinstance(each, Path) else each
)
def test_rows_do_not_depend_on_slots(path: Path, room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A handful of slots for all connections of a capture gives the rows that a slot for each gives."""
    if not path.exists():
        pytest.skip(f"{path.name} is not here")
    free = rows_of(path)
    monkeypatch.setattr(idle_connections, "ROOM", room)
    assert rows_of(path) == free


def side_by_side(path: Path, count: int) -> Path:
    """The first connection of a capture in TLS so many times: each packet of all before the next one, in any order. Without its
    last acknowledgement: a connection that both sides have ended may leave its slot before that."""
    chance = Random(count)
    found = [Ether(row[layout.PACKET_OFFSET]) for row in read_packets(unpacked(LAB / "tls12.pcap"))[0]]
    client, broker = found[0].sport, found[0].dport
    frames = []
    for frame in [each for each in found if {each.sport, each.dport} == {client, broker}][:-1]:
        for number in chance.sample(range(count), count):
            setattr(frame[TCP], "dport" if frame.sport == broker else "sport", 20_000 + number)
            del frame[TCP].chksum
            frames.append(bytes(frame))
    path.write_bytes(pcap_file(frames))
    return path


@pytest.mark.skipif(not (LAB / "tls12.pcap").exists(), reason="the captures of the lab are not here")
@pytest.mark.parametrize("keys", [(), (LAB / "tls12.keylog",)], ids=["no_keys", "keys"])
def test_tls_leaves_its_slot(keys: tuple[Path, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether nothing of it can be decrypted or all: what is known of a session does not go by slot."""
    path = side_by_side(tmp_path / "tls.pcap", 40)
    free = rows_of(path, tls_key_logs=keys)
    assert len(free[0]["connections"]) == 40 and all(("no_keys" in row) != bool(keys) for row in free[0]["connections"])
    assert (len(free[0]["exchanges"]) > 40) == bool(keys)
    parked = []
    free_slots = IdleConnections._free_slots

    def counted(self: IdleConnections) -> None:
        free_slots(self)
        parked.append(self.parked)

    monkeypatch.setattr(IdleConnections, "_free_slots", counted)
    monkeypatch.setattr(idle_connections, "ROOM", 10)
    assert rows_of(path, tls_key_logs=keys) == free
    assert max(parked) > 20


def test_parked_connections_beyond_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """20,000 idle connections, of which 15,000 may be followed: no more are given up than are too many, and it is said."""
    path = made(tmp_path / "idle.pcap", "idle", 20_000)
    monkeypatch.setattr(idle_connections, "ROOM", 400)
    with local.open_dataset([str(path)], Options(max_connections=15_000)) as dataset:
        rows = dataset.query("select count(*) as n, count(*) filter (where requests > 0) as kafka from connections")
        (given_up,) = dataset.query("select count(*) as n from problems where kind = 'connection_evicted'")
        (requests,) = dataset.query("select count(*) as n from exchanges where status = 'answered'")
        said = "\n".join(dataset.warnings)
    assert rows == [{"n": 20_000, "kafka": 20_000}]
    # Of the 20 that speak once more at the end the first 5 or 6 had been given up.
    assert 20_014 <= requests["n"] <= 20_015
    assert 5_000 <= given_up["n"] <= 5_100
    assert "--max-connections" in said


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
def test_bytes_of_an_idle_connection(tmp_path: Path) -> None:
    """What 100,000 idle connections take beyond what 40,000 take: state of all stages, and all that comes with it."""
    found = []
    for count in (40_000, 100_000):
        path = made(tmp_path / "idle.pcap", "idle", count)
        folder = tmp_path / str(count)
        folder.mkdir()
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, str(path), str(folder)],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            check=True,
            text=True,
        )
        memory, parked = map(int, done.stdout.split())
        assert count - idle_connections.ROOM <= parked < count
        found.append((memory * 1024, parked))
    each = (found[1][0] - found[0][0]) / (found[1][1] - found[0][1])
    print(f"{each:.0f} bytes for each idle connection")
    assert 100 < each < IDLE_BYTES


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ([1 << 32], (1 << 29) // 750),
        ([1 << 40, 1 << 33], (1 << 30) // 750),
        ([1 << 40], 5_000_000),
        ([1 << 28], 100_000),
    ],
)
def test_the_limit_follows_from_the_memory(limits: list[int], expected: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """An eighth of the memory, 750 bytes for each connection, 3,000 for a decrypted one; of several limits the lowest counts."""
    monkeypatch.setattr(memory, "_limits", lambda: iter(limits))
    assert memory.connections_at_a_time() == expected
    of_decrypted = min(max(min(limits) // 8 // 3000, 100_000), 5_000_000)
    assert memory.connections_at_a_time(decrypts=True) == of_decrypted


def test_the_limit_of_a_run_is_that_of_the_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = made(tmp_path / "idle.pcap", "idle", 2000)
    assert rows_of(path)[1] == ""
    monkeypatch.setattr(memory, "connections_at_a_time", lambda *_: 1000)
    monkeypatch.setattr(pipeline, "connections_at_a_time", lambda *_: 1000)
    assert "--max-connections" in rows_of(path)[1]
