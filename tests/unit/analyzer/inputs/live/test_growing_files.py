"""Rings as capturers write them: in the order of first packets, while old files are removed or written over."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from analyzer.inputs.live import growing_files
from analyzer.inputs.live.growing_files import GrowingFiles
from analyzer.inputs.live.live_source import LiveSource

HEAD = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)


@pytest.fixture(autouse=True)
def looks_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growing_files, "LOOK_S", 0)


def packet(second: int, text: bytes = b"") -> bytes:
    data = text.ljust(60, b".")
    return struct.pack("<IIII", second, 0, len(data), len(data)) + data


def ring(folder: Path) -> GrowingFiles:
    return GrowingFiles(lambda: sorted(folder.iterdir()))


def read(source: LiveSource) -> bytes:
    """What is there now."""
    data = b""
    view = memoryview(bytearray(1_000_000))
    while count := source._stream.read_into(view):
        data += view[:count]
    return data


def test_files_come_in_the_order_of_their_first_packets(tmp_path: Path) -> None:
    for name, second in (("a", 30), ("b", 10), ("c", 20)):
        (tmp_path / name).write_bytes(HEAD + packet(second))
    files = ring(tmp_path)
    names = []
    while (source := files.following()) is not None:
        read(source)
        names.append(Path(source.name).name)
    assert names == ["b", "c", "a"]


def test_a_file_is_over_when_a_newer_one_is_there_and_all_of_it_was_read(tmp_path: Path) -> None:
    first = tmp_path / "r_00001"
    first.write_bytes(HEAD + packet(1))
    files = ring(tmp_path)
    source = files.following()
    assert source is not None
    assert read(source) == HEAD + packet(1)
    view = memoryview(bytearray(1_000))
    assert source._stream.read_into(view) == 0
    with first.open("ab") as file:
        file.write(packet(2))
    (tmp_path / "r_00002").write_bytes(HEAD + packet(3))
    files.look()
    assert read(source) == packet(2)
    assert source._stream.read_into(view) is None
    following = files.following()
    assert following is not None and following.first_time_ns == 3_000_000_000


def test_a_ring_that_removes_its_oldest_files_takes_nothing_away(tmp_path: Path) -> None:
    for second in range(1, 6):
        (tmp_path / f"r{second}").write_bytes(HEAD + packet(second))
    files = ring(tmp_path)
    source = files.following()
    assert source is not None
    for path in tmp_path.iterdir():
        path.unlink()
    found = [read(source)]
    while (source := files.following()) is not None:
        found.append(read(source))
    assert found == [HEAD + packet(second) for second in range(1, 6)]
    assert (files.lost_files, files.lost_bytes) == (0, 0)


def test_what_is_written_over_before_it_was_read_is_counted(tmp_path: Path) -> None:
    old = HEAD + packet(1) + packet(2)
    (tmp_path / "r0").write_bytes(old)
    (tmp_path / "r1").write_bytes(HEAD + packet(3))
    files = ring(tmp_path)
    source = files.following()
    assert source is not None
    view = memoryview(bytearray(len(HEAD) + len(packet(1))))
    assert source._stream.read_into(view) == len(view)
    # tcpdump -W opens its oldest file anew: same inode, other packets.
    (tmp_path / "r0").write_bytes(HEAD + packet(9) + packet(10) + packet(11))
    assert source._stream.read_into(view) is None
    second = files.following()
    assert second is not None and read(second) == HEAD + packet(3)
    assert (files.lost_files, files.lost_bytes) == (1, len(packet(2)))
    third = files.following()
    assert third is not None and third.first_time_ns == 9_000_000_000


def test_a_file_that_waits_and_is_written_over_is_counted(tmp_path: Path) -> None:
    (tmp_path / "r0").write_bytes(HEAD + packet(1))
    (tmp_path / "r1").write_bytes(HEAD + packet(2))
    files = ring(tmp_path)
    assert files.following() is not None
    (tmp_path / "r1").write_bytes(HEAD + packet(5))
    following = files.following()
    assert files.lost_files == 1
    assert following is not None and following.first_time_ns == 5_000_000_000


def test_a_single_file_is_followed_before_its_first_packet_and_when_it_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "grows"
    path.write_bytes(b"")
    files = GrowingFiles(lambda: [path], follows=True)
    source = files.following()
    assert source is not None
    assert read(source) == b""
    path.write_bytes(HEAD + packet(1))
    assert read(source) == HEAD + packet(1)
    path.unlink()
    path.write_bytes(HEAD + packet(2))
    files.look()
    view = memoryview(bytearray(1_000))
    assert source._stream.read_into(view) is None
    following = files.following()
    assert following is not None and read(following) == HEAD + packet(2)


def test_what_is_no_capture_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_bytes(b"x" * 1000)
    (tmp_path / "empty").write_bytes(b"")
    assert ring(tmp_path).following() is None
