"""The ring holds the last bytes within its limits, in files that open by themselves."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from paths import SAMPLES

from analyzer.inputs.engine import Engine
from analyzer.inputs.sources import Source
from analyzer.watch import ring
from analyzer.watch.ring import Ring, files
from dissectors import layout
from dissectors.formats.format_detection import Reader, open_reader
from dissectors.matrix import new_matrix


@pytest.fixture(scope="module")
def capture() -> bytes:
    return b"".join(Source("x", SAMPLES / "groups_classic.pcap.zst").blocks())


def fed(kept: Ring, data: bytes, most: int = 300) -> None:
    """Records of a capture as a reader gives them: in batches of a few, up to where it has read."""
    chance = random.Random(1)
    reader: Reader = open_reader(data)
    at = 0
    while at < len(data):
        rows = new_matrix(layout.PACKET_COLUMNS, chance.randint(1, most))
        before = at
        _, at, _ = reader.feed(data, at, rows)
        kept.take(0, memoryview(data)[before:at], reader)


def packets(paths: list[Path]) -> int:
    readings = Engine(lambda *_: None).read_all([Source(str(path), path) for path in paths])
    assert all(reading.failure is None and not reading.notes for reading in readings)
    return sum(sum(reading.outcomes) for reading in readings)


def in_order(folder: Path) -> list[Path]:
    return sorted(files(folder), key=lambda path: path.name)


def test_all_files_together_are_the_capture(capture: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ring, "FILE_BYTES", len(capture) // 7)
    fed(Ring(tmp_path, 600, 1 << 30), capture)
    found = in_order(tmp_path)
    assert len(found) >= 6
    whole = tmp_path / "whole"
    whole.write_bytes(capture)
    assert packets(found) == packets([whole])
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in found)


def test_only_the_last_bytes_stay(capture: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ring, "FILE_BYTES", len(capture) // 20)
    most = len(capture) // 3
    fed(Ring(tmp_path, 600, most), capture)
    found = in_order(tmp_path)
    assert 0 < sum(path.stat().st_size for path in found) <= most + len(capture) // 20
    assert found[-1].read_bytes()[-1_000:] == capture[-1_000:]
    assert packets(found) > 0


def test_what_is_too_old_goes(capture: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ring, "FILE_BYTES", len(capture) // 5)
    fed(Ring(tmp_path, 600, 1 << 30), capture)
    old = in_order(tmp_path)
    for path in old[:2]:
        os.utime(path, (1, 1))
    fed(Ring(tmp_path, 600, 1 << 30), capture)
    assert not any(path.exists() for path in old[:2])
    assert all(path.exists() for path in old[2:])


def test_a_restart_goes_on_with_other_names(capture: bytes, tmp_path: Path) -> None:
    fed(Ring(tmp_path, 600, 1 << 30), capture)
    before = {path: path.read_bytes() for path in files(tmp_path)}
    fed(Ring(tmp_path, 600, 1 << 30), capture)
    assert all(path.read_bytes() == data for path, data in before.items())
    assert len(files(tmp_path)) == 2 * len(before)


def test_secrets_and_interfaces_stand_before_the_packets_that_need_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import io

    from analyzer.extract.pcapng_file import PcapngFile
    from dissectors.formats.capture_facts import Interface

    sink = io.BytesIO()
    file = PcapngFile(sink)
    clock = Interface(1, 65_535, "eth0", 10**9)
    numbers = [file.interface(1, clock)]
    file.secrets(0x544C534B, b"CLIENT_RANDOM 00 11\n")
    for number in range(60):
        if number == 30:
            numbers.append(file.interface(1, clock))
        file.packet(numbers[-1], number, b"." * 60, 60)
    monkeypatch.setattr(ring, "FILE_BYTES", 1_000)
    fed(Ring(tmp_path, 600, 1 << 30), sink.getvalue(), most=4)
    found = in_order(tmp_path)
    assert len(found) > 2
    assert packets(found) == 60
    for path in found[1:]:
        assert b"CLIENT_RANDOM 00 11" in path.read_bytes()


def test_a_full_disk_ends_nothing_and_is_said(capture: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Ring(tmp_path, 600, 1 << 30)

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(ring._Writing, "write", full)
        fed(kept, capture)
    assert kept.trouble is not None and "No space left" in kept.trouble
    fed(kept, capture)
    assert kept.trouble is None
