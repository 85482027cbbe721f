"""Inputs: what paths, globs, directories and pipes come to, compression by content, one clear line for each bad one."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import cramjam
import pytest
from capture_tools import pcap_file, section
from hypothesis import given, settings
from hypothesis import strategies as st
from paths import ROOT

from analyzer.inputs.expansion import expand, natural
from analyzer.inputs.sources import InputError, Source

RANDOM = Random(9092)
CAPTURE = pcap_file([RANDOM.randbytes(500) + bytes(500) for _ in range(300)])
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "zstd": lambda data: bytes(cramjam.zstd.compress(data)),
    "lz4": lambda data: bytes(cramjam.lz4.compress(data)),
    "xz": lzma.compress,
    "bzip2": bz2.compress,
}


def source(folder: Path, data: bytes, name: str = "x.pcap") -> Source:
    path = folder / name
    path.write_bytes(data)
    return Source(str(path), path, len(data))


@pytest.mark.parametrize("size", [1000, 1 << 20])
def test_a_plain_file_in_blocks(tmp_path: Path, size: int) -> None:
    one = source(tmp_path, CAPTURE)
    blocks = list(one.blocks(size))
    assert b"".join(blocks) == CAPTURE
    assert [len(block) for block in blocks[:-1]] == [size] * (len(blocks) - 1)
    assert (one.done_bytes, one.notes) == (len(CAPTURE), [])


@pytest.mark.parametrize("name", PACKERS)
def test_compression_is_seen_by_content_and_members_follow_each_other(tmp_path: Path, name: str) -> None:
    pack = PACKERS[name]
    data = pack(CAPTURE[:100_000]) + pack(b"") + pack(CAPTURE[100_000:])
    one = source(tmp_path, data, "no.extension.at.all")
    blocks = list(one.blocks(4096))
    assert b"".join(blocks) == CAPTURE
    assert {len(block) for block in blocks[:-1]} == {4096}
    assert (one.done_bytes, one.notes) == (len(data), [])
    assert b"".join(one.blocks()) == CAPTURE, "a file can be read again"


@pytest.mark.parametrize("name", PACKERS)
def test_a_cut_compressed_file_gives_what_came_before(tmp_path: Path, name: str) -> None:
    """For gzip and xz nearly all; for the others the blocks that are whole (bzip2 has a single one here)."""
    packed = PACKERS[name](CAPTURE)
    lost_block = {"gzip": 2_000, "xz": 2_000, "zstd": 131_072, "lz4": 65_536, "bzip2": len(CAPTURE)}[name]
    for size in (len(packed) - 1, len(packed) * 2 // 3, 20):
        one = source(tmp_path, packed[:size])
        got = b"".join(one.blocks())
        assert CAPTURE.startswith(got)
        assert len(got) > len(CAPTURE) * (size - 1_000) / len(packed) - lost_block
        (note,) = one.notes
        assert (note.kind, note.offset) == ("cut", len(got))
        assert "end in the middle" in note.text


def filled(one: Source, size: int, uses: Callable[[int], int]) -> tuple[bytes, int]:
    """What a reader of `fill` gets that each time uses `uses(bytes that it sees)` bytes, and how many buffers there were."""
    got, buffers = bytearray(), []
    filling = one.fill(bytearray(size))
    data, new = next(filling)
    while new:
        if not buffers or buffers[-1] is not data.obj:
            buffers.append(data.obj)
        used = uses(len(data))
        got += data[:used]
        data, new = filling.send(used)
    got += data
    with pytest.raises(StopIteration):
        filling.send(0)
    return bytes(got), len(buffers)


@pytest.mark.parametrize("name", [None, *PACKERS])
@pytest.mark.parametrize("size", [100, 5_000, 1 << 20])
def test_a_reader_may_leave_bytes_unused(tmp_path: Path, name: str | None, size: int) -> None:
    one = source(tmp_path, PACKERS[name](CAPTURE) if name else CAPTURE)
    chance = Random(size)
    for uses in (lambda seen: seen, lambda seen: chance.randint(0, seen), lambda seen: max(0, seen - 20_000)):
        assert filled(one, size, uses)[0] == CAPTURE


@pytest.mark.parametrize("name", [None, *PACKERS])
def test_what_is_left_unused_is_seldom_moved(tmp_path: Path, name: str | None) -> None:
    """However small the pieces of the unpacker are."""
    one = source(tmp_path, PACKERS[name](CAPTURE) if name else CAPTURE)
    got, buffers = filled(one, 1_000, lambda _: 0)
    assert got == CAPTURE
    assert buffers <= 12


def test_packed_data_before_a_read_that_fails_is_given_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def pieces(*_: object) -> Iterator[bytes]:
        yield from (b"one", b"", b"two")
        raise InputError("gone")

    one = source(tmp_path, PACKERS["zstd"](CAPTURE))
    monkeypatch.setattr(Source, "_unpacked", pieces)
    filling = one.fill(bytearray(100))
    assert bytes(next(filling)[0]) == b"onetwo"
    data, new = filling.send(4)
    assert (bytes(data), new) == (b"wo", 0)
    with pytest.raises(InputError, match="gone"):
        filling.send(0)


def test_a_cut_zstd_file_loses_no_whole_block(tmp_path: Path) -> None:
    """pyarrow holds back what its failing call had unpacked: the second reading must fetch it."""
    frames = [CAPTURE[:100_001], CAPTURE[100_001:200_003]]
    packed = [PACKERS["zstd"](frame) for frame in frames]
    one = source(tmp_path, packed[0] + packed[1] + PACKERS["zstd"](CAPTURE)[:30])
    assert b"".join(one.blocks()) == CAPTURE[:200_003]


@pytest.mark.parametrize("name", ["gzip", "xz", "bzip2", "lz4"])
def test_damage_ends_the_data_with_a_note(tmp_path: Path, name: str) -> None:
    packed = bytearray(PACKERS[name](CAPTURE))
    packed[len(packed) // 2] ^= 0xFF
    one = source(tmp_path, bytes(packed))
    got = b"".join(one.blocks())
    assert len(got) <= len(CAPTURE)
    (note,) = one.notes  # of kind "cut" where the damage hit a length
    assert f"what comes before counts ({len(got):,} bytes)" in note.text


@pytest.mark.parametrize("name", PACKERS)
def test_bytes_behind_the_end(tmp_path: Path, name: str) -> None:
    one = source(tmp_path, PACKERS[name](CAPTURE) + b"something else")
    assert b"".join(one.blocks()) == CAPTURE
    assert [note.kind for note in one.notes] == ["damaged"]


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from(list(PACKERS)),
    st.lists(st.tuples(st.integers(0, 5000), st.integers(0, 255)), max_size=5),
    st.integers(0, 5000),
)
def test_hostile_compressed_data_never_raise(
    tmp_path_factory: pytest.TempPathFactory, name: str, flips: list[tuple[int, int]], size: int
) -> None:
    data = bytearray(PACKERS[name](CAPTURE[:3000]))
    for place, value in flips:
        data[place % len(data)] = value
    one = source(tmp_path_factory.getbasetemp(), bytes(data[:size]))
    assert len(b"".join(one.blocks())) <= 3 * len(data) + 10_000_000


def test_rotated_files_are_in_order(tmp_path: Path) -> None:
    names = ["x.pcap", *(f"x.pcap{number}" for number in range(1, 12))]
    for name in reversed(names):
        source(tmp_path, CAPTURE, name)
    for given_input in (str(tmp_path), str(tmp_path / "x.pcap*")):
        assert [Path(one.name).name for one in expand([given_input]).sources] == names
    packed = [Path("d10/x.pcap.gz"), Path("d2/x.pcap1.gz"), Path("d2/x.pcap.gz")]
    assert sorted(packed, key=natural) == [packed[2], packed[1], packed[0]]


def test_explicit_inputs_keep_their_order(tmp_path: Path) -> None:
    names = [source(tmp_path, CAPTURE, name).name for name in ("b.pcap", "a.pcap", "c.pcap")]
    assert [one.name for one in expand([*names, "-"]).sources] == [*names, "-"]
    assert expand(names).sources[0].size_bytes == len(CAPTURE)


def test_a_directory_gives_its_captures_whatever_their_names(tmp_path: Path) -> None:
    source(tmp_path, CAPTURE, "packets.bin")
    source(tmp_path, PACKERS["zstd"](section()), "other")
    source(tmp_path, b"# notes\n", "README.pcap")
    source(tmp_path, gzip.compress(b"log line"), "server.log.gz")
    source(tmp_path, CAPTURE, ".hidden.pcap")
    (tmp_path / "sub").mkdir()
    source(tmp_path / "sub", CAPTURE)
    found = expand([str(tmp_path)])
    assert [Path(one.name).name for one in found.sources] == ["other", "packets.bin"]
    assert [Path(name).name for name in found.passed_over] == ["README.pcap", "server.log.gz"]
    assert found.errors == []


BAD = {
    "missing": (lambda folder: str(folder / "gone.pcap"), "no such file"),
    "empty": (lambda folder: source(folder, b"").name, "empty"),
    "text": (
        lambda folder: source(folder, b"hello, I am a log file\n").name,
        "got text; give what tcpdump -w or Wireshark wrote (of a broker's logs `kanalyze` reads kafka-request.log)",
    ),
    "picture": (
        lambda folder: source(folder, b"\x89PNG\r\n\x1a\n" + bytes(20)).name,
        "89 50 4e 47; give what tcpdump -w",
    ),
    "snoop": (lambda folder: source(folder, b"snoop\0\0\0" + bytes(20)).name, "editcap"),
    "header cut": (lambda folder: source(folder, CAPTURE[:20]).name, "truncated within its header"),
    "empty gzip": (lambda folder: source(folder, gzip.compress(b"")).name, "empty"),
    "cut gzip": (lambda folder: source(folder, gzip.compress(CAPTURE)[:12]).name, "gzip data end in the middle"),
    "packed twice": (lambda folder: source(folder, gzip.compress(gzip.compress(CAPTURE))).name, "compressed twice"),
    "glob": (lambda folder: str(folder / "*.pcap"), "no file matches"),
    "directory": (lambda folder: str(folder), "no captures in this directory; for subdirectories"),
    "bad capture in it": (
        lambda folder: str(Path(source(folder, b"hello\n").name).parent),
        "no captures in this directory (x.pcap: got text); for subdirectories",
    ),
    "uri": (lambda _: "ftp://host/x.pcap", "unsupported storage"),
    "below a file": (lambda folder: source(folder, CAPTURE).name + "/x", "cannot be read"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_input_is_one_clear_line(tmp_path: Path, name: str) -> None:
    make, text = BAD[name]
    given_input = make(tmp_path)
    found = expand([given_input])
    assert found.sources == []
    (error,) = found.errors
    assert isinstance(error, InputError)
    assert str(error).startswith(given_input.split("/x.pcap/")[0])
    assert text in str(error)
    assert "\n" not in str(error)


def test_one_bad_input_does_not_hide_the_others(tmp_path: Path) -> None:
    good = source(tmp_path, CAPTURE, "good.pcap").name
    found = expand(["gone.pcap", good, str(tmp_path / "*.nothing")])
    assert [one.name for one in found.sources] == [good]
    assert len(found.errors) == 2


def test_permission_denied(tmp_path: Path) -> None:
    one = source(tmp_path, CAPTURE)
    Path(one.name).chmod(0)
    if os.access(one.name, os.R_OK):
        pytest.skip("this user may read everything")
    assert "permission denied" in str(expand([one.name]).errors[0])


def test_a_file_that_vanishes_after_expand(tmp_path: Path) -> None:
    one = source(tmp_path, CAPTURE)
    Path(one.name).unlink()
    with pytest.raises(InputError, match="no such file"):
        next(one.blocks())


READ_STDIN = """
import sys
import tracemalloc
from analyzer.inputs.expansion import expand
found = expand(sys.argv[1:])
data = b"".join(found.sources[0].blocks(1000))
print(len(data), data[:4].hex(), [note.kind for note in found.sources[0].notes], found.sources[0].size_bytes)
"""


@pytest.mark.parametrize("name", [None, *PACKERS])
def test_standard_input_and_pipes(name: str | None, tmp_path: Path) -> None:
    data = PACKERS[name](CAPTURE) if name else CAPTURE
    expected = f"{len(CAPTURE)} {CAPTURE[:4].hex()} [] None\n"
    command = [sys.executable, "-c", READ_STDIN]
    assert (
        subprocess.run([*command, "-"], input=data, capture_output=True, cwd=ROOT, check=True).stdout.decode()
        == expected
    )
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen([*command, str(pipe)], stdout=subprocess.PIPE, cwd=ROOT) as reader:
        pipe.write_bytes(data)
        assert reader.communicate()[0].decode() == expected


def test_a_cut_pipe_still_gives_nearly_all() -> None:
    packed = PACKERS["zstd"](CAPTURE)
    done = subprocess.run(
        [sys.executable, "-c", READ_STDIN, "-"], input=packed + packed[:-1], capture_output=True, cwd=ROOT, check=True
    )
    size, _, notes, _ = done.stdout.decode().split()
    assert len(CAPTURE) <= int(size) < 2 * len(CAPTURE)
    assert notes == "['cut']"


@pytest.mark.slow
def test_memory_stays_bounded(tmp_path: Path) -> None:
    """A gzip bomb of 200 MB comes in pieces: no block is larger than asked for, and the peak is far below the whole."""
    one = source(tmp_path, gzip.compress(bytes(200_000_000)))
    tracemalloc.start()
    assert sum(len(block) for block in one.blocks()) == 200_000_000
    assert tracemalloc.get_traced_memory()[1] < 8_000_000
    tracemalloc.stop()
