"""Whole or not at all; never over an input; never in the place of a device; links followed; modes kept."""

from __future__ import annotations

import errno
import gzip
import os
import signal
import stat
import threading
import time
from pathlib import Path

import pytest

from analyzer.base.outputs import PRIVATE, Inputs, Output, OutputError, RefusedError, full_disk


def put(output: Output, data: bytes) -> None:
    with output.stream() as sink:
        sink.write(data)


def test_a_file_appears_when_it_is_whole_and_alone(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"old")
    with Output(str(path)).stream() as sink:
        sink.write(b"new" * 100_000)
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new" * 100_000 and list(tmp_path.iterdir()) == [path]


def test_after_an_error_the_old_one_stays_alone(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"old")
    with pytest.raises(KeyboardInterrupt), Output(str(path)).stream() as sink:
        sink.write(b"new")
        raise KeyboardInterrupt
    assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]


def test_the_mode_of_what_is_replaced_stays_and_a_new_one_has_what_was_asked(tmp_path: Path) -> None:
    path = tmp_path / "x"
    before = os.umask(0o027)
    try:
        put(Output(str(path)), b"1")
        put(Output(str(tmp_path / "private"), mode=PRIVATE), b"1")
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert stat.S_IMODE((tmp_path / "private").stat().st_mode) == 0o600
    path.chmod(0o604)
    put(Output(str(path), mode=PRIVATE), b"2")
    assert stat.S_IMODE(path.stat().st_mode) == 0o604 and path.read_bytes() == b"2"


@pytest.mark.skipif(os.geteuid() != 0, reason="root alone gives files away")
def test_the_owner_of_what_is_replaced_stays(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"old")
    os.chown(path, 12345, 23456)
    put(Output(str(path)), b"new")
    assert (path.stat().st_uid, path.stat().st_gid) == (12345, 23456)


def test_a_link_is_followed_to_what_it_names(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    target, link, chain = tmp_path / "there" / "x", tmp_path / "link", tmp_path / "chain"
    link.symlink_to("there/x")
    chain.symlink_to("link")
    for data in (b"made", b"again"):
        put(Output(str(chain)), data)
        assert target.read_bytes() == data and link.is_symlink() and chain.is_symlink()
    assert list((tmp_path / "there").iterdir()) == [target]


@pytest.mark.parametrize("way", ["same", "hard", "soft", "below", "beside it"])
def test_what_is_read_is_not_written(way: str, tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"capture")
    (tmp_path / "hard").hardlink_to(path)
    (tmp_path / "soft").symlink_to("x")
    (tmp_path / "set").mkdir()
    (tmp_path / "x.manifest.json").write_bytes(b"capture")
    name = {"same": "x", "hard": "hard", "soft": "soft", "below": "set/new", "beside it": "x"}[way]
    inputs = Inputs.of([tmp_path / "set", tmp_path / ("x.manifest.json" if way == "beside it" else "x")])
    output = Output(str(tmp_path / name), inputs)
    output = output.beside(".manifest.json") if way == "beside it" else output
    with pytest.raises(RefusedError, match="is one of the captures"):
        put(output, b"new")
    assert path.read_bytes() == b"capture" and not list((tmp_path / "set").iterdir())


def test_objects_that_are_read_are_not_written() -> None:
    inputs = Inputs.of(["s3a://bucket/captures/x.pcap", "s3://bucket/set"])
    for name in ("s3://bucket/captures/x.pcap", "s3://bucket/set/exchanges.parquet", "s3://bucket/set"):
        with pytest.raises(RefusedError, match="is one of the captures"):
            Output(name, inputs).check()
    Output("s3://bucket/settings", inputs).check()


def test_standard_input_that_is_the_file_counts(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"capture")
    with path.open("rb") as given, pytest.raises(RefusedError):
        Output(str(path), Inputs().with_descriptor(given.fileno())).check()


def read_from(path: Path, told: list[bytes]) -> threading.Thread:
    thread = threading.Thread(target=lambda: told.append(path.read_bytes()))
    thread.start()
    return thread


def test_a_fifo_is_written_into_and_stays_one(tmp_path: Path) -> None:
    path, told = tmp_path / "fifo", list[bytes]()
    os.mkfifo(path)
    thread = read_from(path, told)
    output = Output(str(path))
    put(output, b"x" * 300_000)
    thread.join(10)
    assert told == [b"x" * 300_000] and stat.S_ISFIFO(path.stat().st_mode) and not output.is_kept
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("form", ["/dev/fd/{}", "/proc/self/fd/{}", "link"])
def test_what_a_shell_passed_on_is_written_into(form: str, tmp_path: Path) -> None:
    reading, writing = os.pipe()
    name = form.format(writing)
    if form == "link":
        name = str(tmp_path / "link")
        Path(name).symlink_to(f"/dev/fd/{writing}")
    with os.fdopen(reading, "rb") as pipe:
        put(Output(name), b"some")
        os.close(writing)
        assert pipe.read() == b"some"


def test_a_file_behind_a_descriptor_is_written_from_where_it_stands(tmp_path: Path) -> None:
    """`{ echo head; kanalyze html x.pcap -o /dev/fd/3; } 3> page` has both."""
    with (tmp_path / "x").open("wb") as given:
        given.write(b"head ")
        given.flush()
        put(Output(f"/dev/fd/{given.fileno()}"), b"page")
    assert (tmp_path / "x").read_bytes() == b"head page"


def device(path: Path, minor: int) -> Path:
    """One of the test's own: what puts a file in the place of /dev/null spoils the machine for all others."""
    try:
        os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, minor))
        path.open("wb").close()
    except OSError:
        pytest.skip("no devices can be made here")
    return path


def test_a_device_stays_a_device(tmp_path: Path) -> None:
    """As root a file would take the place of /dev/null."""
    path = device(tmp_path / "null", 3)
    put(Output(str(path)), b"x")
    assert stat.S_ISCHR(path.stat().st_mode) and list(tmp_path.iterdir()) == [path]


def test_what_takes_no_bytes_is_refused(tmp_path: Path) -> None:
    for name, words in (
        (tmp_path, "a directory"),
        (f"{tmp_path}/new/", "a directory"),
        (tmp_path / "no/x", "no such directory"),
    ):
        with pytest.raises(RefusedError, match=words):
            Output(str(name)).check()


def test_a_full_device_is_said_with_its_name(tmp_path: Path) -> None:
    path = device(tmp_path / "full", 7)
    with pytest.raises(OutputError) as told:
        put(Output(str(path)), b"x")
    assert (told.value.filename, told.value.errno) == (str(path), errno.ENOSPC)


def test_errors_of_a_full_disk_are_those_of_the_output_where_it_is_its_disk(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="no space left on its disk"), full_disk(tmp_path, "out"):
        raise RuntimeError(f'IO Error: Could not write file "{tmp_path}/x": No space left on device')
    with pytest.raises(OSError) as told, full_disk(tmp_path, "out"):
        raise OSError(errno.ENOSPC, "No space left on device", "/elsewhere/x")
    assert not isinstance(told.value, OutputError)


def test_what_a_killed_run_left_goes_with_the_next_one_and_not_before(tmp_path: Path) -> None:
    path = tmp_path / "x"
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        with Output(str(path)).stream() as sink:
            sink.write(b"x" * 100_000)
            os.write(writing, b".")
            time.sleep(60)
        os._exit(0)
    os.read(reading, 1)
    (left,) = tmp_path.iterdir()
    put(Output(str(path)), b"1")
    assert left.exists(), "its writer is at work"
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    put(Output(str(tmp_path / "y.gz")), b"2")
    assert {each.name for each in tmp_path.iterdir()} == {"x", "y.gz"}
    assert gzip.decompress((tmp_path / "y.gz").read_bytes()) == b"2"
