"""Captures in object storage: the bytes of the files, or a clear error, whatever happens to object and server meanwhile."""

from __future__ import annotations

import gzip
import os
import pickle
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import effort
import pytest
from paths import SAMPLES

from analyzer.base.storage import filesystems, reader
from analyzer.base.storage.addresses import Address, StorageError, parse_address
from analyzer.base.storage.objects import StorageEntry
from analyzer.base.storage.reader import ObjectReader
from analyzer.inputs.expansion import expand
from analyzer.inputs.sources import InputError, Source
from analyzer.spark import sink
from notebooks.s3_server import Server, settle

# What breaks something, and the address that is asked then.
Make = Callable[[Server, Callable[[str, str], None]], str]
# Of no compression, longer than three ranges and not a multiple of anything.
LONG = b"\xd4\xc3\xb2\xa1\x02\0\x04\0" + bytes(12) + b"\x01\0\0\0" + Random(9092).randbytes(20_000_001)


def one(uri: str) -> Source:
    found = expand([uri])
    assert found.errors == []
    (source,) = found.sources
    return source


def change(path: Path, data: bytes) -> None:
    """The server sees it from then on."""
    path.write_bytes(data)
    settle()


def all_of(source: Source) -> bytes:
    """The source's bytes by `fill`, half of them used at a time; `blocks` must give the same."""
    filling = source.fill(bytearray(1 << 20))
    data = bytearray()
    view, new = next(filling)
    count = 0
    try:
        while True:
            count += new
            used = len(view) // 2 or len(view)
            data += view[:used]
            rest = bytes(view[used:])
            view, new = filling.send(used)
    except StopIteration:
        data += rest
    assert count == len(data) - len(source.head)
    return bytes(data)


@pytest.mark.parametrize("size", [24, 25, reader.FIRST_RANGE_BYTES, reader.FIRST_RANGE_BYTES + 1, len(LONG)])
def test_an_object_gives_the_bytes_of_the_file(server: Server, bucket: Path, size: int) -> None:
    del server
    (bucket / "x.pcap").write_bytes(LONG[:size])
    source = one("s3a://bucket/x.pcap")
    assert (source.name, source.size_bytes, source.path) == ("s3://bucket/x.pcap", size, None)
    assert all_of(source) == LONG[:size]
    assert b"".join(source.blocks()) == LONG[:size]
    again = pickle.loads(pickle.dumps(source))
    assert b"".join(again.blocks()) == LONG[:size] and again.done_bytes == size


def test_compressed_objects_are_as_compressed_files(server: Server, bucket: Path) -> None:
    del server
    (bucket / "x.gz").write_bytes(gzip.compress(LONG, 1))
    (bucket / "cut.gz").write_bytes(gzip.compress(LONG, 1)[:-1])
    shutil.copy(SAMPLES / "throttle.pcap.zst", bucket)
    assert all_of(one("s3://bucket/x.gz")) == LONG
    cut = one("s3://bucket/cut.gz")
    assert LONG.startswith(b"".join(cut.blocks())) and [note.kind for note in cut.notes] == ["cut"]
    local = Source("x", SAMPLES / "throttle.pcap.zst")
    assert b"".join(one("s3://bucket/throttle.pcap.zst").blocks()) == b"".join(local.blocks())


@pytest.mark.parametrize("begin, end", [(24, 30), (1_000_000, 1_000_100), (17_000_000, None), (len(LONG), None)])
def test_a_part_is_its_head_and_the_bytes_from_its_begin_on(
    server: Server, bucket: Path, begin: int, end: int | None
) -> None:
    del server
    (bucket / "x.pcap").write_bytes(LONG)
    for path, uri in ((bucket / "x.pcap", None), (None, "s3://bucket/x.pcap")):
        source = Source("x", path, len(LONG), begin=begin, end=end, head=LONG[:24], uri=uri)
        assert b"".join(source.blocks()) == LONG[:24] + LONG[begin:]
        assert source.done_bytes == len(LONG) - begin
        if begin < len(LONG):
            assert all_of(source) == LONG[:24] + LONG[begin:]


def test_little_is_read_beyond_the_end_of_a_part(server: Server, bucket: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    del server
    (bucket / "x.pcap").write_bytes(LONG)
    asked: list[int] = []
    plain = ObjectReader._range

    def counted(reader: ObjectReader, begin: int, end: int) -> bytes:
        asked.append(end)
        return plain(reader, begin, end)

    monkeypatch.setattr(ObjectReader, "_range", counted)
    source = Source("x", None, len(LONG), begin=24, end=9_000_000, uri="s3://bucket/x.pcap")
    got = 0
    for block in source.blocks():
        got += len(block)
        if got >= 9_000_000:
            break
    assert max(asked) <= 9_000_000 + 2 * reader.LEAST_RANGE_BYTES


NAMES = [
    "plain.pcap",
    "a b.pcap",
    "100%25.pcap",
    "q?.pcap",
    "h#.pcap",
    "a+b&c=d.pcap",
    "é.pcap",
    "[1].pcap",
    "st*r.pcap",
]


def test_any_key_works(server: Server, bucket: Path) -> None:
    del server
    for number, name in enumerate(NAMES):
        (bucket / name).write_bytes(LONG[: 100 + number])
    for number, name in enumerate(NAMES):
        assert b"".join(one(f"s3://bucket/{name}").blocks()) == LONG[: 100 + number]
    assert {source.name for source in expand(["s3://bucket"]).sources} == {f"s3://bucket/{name}" for name in NAMES}


def test_prefixes_and_globs_find_what_local_ones_find(server: Server, bucket: Path) -> None:
    del server
    names = ["x.pcap", *(f"x.pcap{number}" for number in range(1, 12)), "sub/a.pcap", "sub/deep/b.pcap", ".hidden.pcap"]
    for name in names:
        (bucket / "d" / name).parent.mkdir(parents=True, exist_ok=True)
        (bucket / "d" / name).write_bytes(LONG[:100])
    (bucket / "d" / "README").write_text("no capture")
    for pattern in (
        "d",
        "d/",
        "d/*",
        "d/x.pcap*",
        "d/**",
        "d/**/*.pcap",
        "*/x.pcap[2-4]",
        "d/s?b/*",
        "d/.h*",
        "**/b.pcap",
    ):
        local = expand([str(bucket / pattern)])
        remote = expand([f"s3://bucket/{pattern}"])
        want = [source.name.replace(str(bucket), "s3://bucket") for source in local.sources]
        assert [source.name for source in remote.sources] == want and want
        passed = [name.replace(str(bucket), "s3://bucket") for name in local.passed_over]
        assert (remote.passed_over, len(remote.errors)) == (passed, len(local.errors))


def test_a_file_uri_is_a_path(tmp_path: Path) -> None:
    path = tmp_path / "a b%.pcap"
    path.write_bytes(LONG[:100])
    assert one(path.as_uri()).path == path


def with_environment(uri: str, **values: str) -> Make:
    def make(_: Server, set_environment: Callable[[str, str], None]) -> str:
        for name, value in values.items():
            set_environment(name, value)
        return uri

    return make


def plain(uri: str) -> Make:
    return lambda *_: uri


def nobody_there(server: Server, _: Callable[[str, str], None]) -> str:
    server.stop()
    return "s3://bucket/x.pcap"


BAD = {
    "wrong key": (with_environment("s3://bucket/", AWS_SECRET_ACCESS_KEY="wrong"), "does not accept the secret key"),
    "wrong key of an object": (
        with_environment("s3://bucket/x.pcap", AWS_SECRET_ACCESS_KEY="wrong"),
        "does not accept the secret key",
    ),
    "unknown key": (
        with_environment("s3://bucket/*.pcap", AWS_ACCESS_KEY_ID="whoever"),
        "does not know the access key",
    ),
    "no keys": (
        with_environment("s3://bucket/x.pcap", AWS_ACCESS_KEY_ID="", AWS_SECRET_ACCESS_KEY=""),
        "the environment has no keys",
    ),
    "no bucket": (plain("s3://other/x.pcap"), "no such bucket"),
    "no bucket to list": (plain("s3://other/*.pcap"), "no such bucket"),
    "no object": (plain("s3://bucket/gone.pcap"), "no such object"),
    "no match": (plain("s3://bucket/*.gone"), "no object matches"),
    "empty place": (plain("s3://bucket/empty/"), "no such object"),
    "not a capture": (plain("s3://bucket/text"), "not a readable capture"),
    "double slash": (plain("s3://bucket//x"), "empty part"),
    "above": (plain("s3://bucket/../../../../etc/passwd"), "denies access"),
    "unknown scheme": (plain("hdfs://bucket/x.pcap"), "supported are s3"),
    "no name": (plain("s3:///x.pcap"), "has no bucket"),
    "azure without account": (plain("abfss://container/x.pcap"), "CONTAINER@ACCOUNT"),
    "keys inside": (plain("s3://AKIA:topsecret@bucket/x"), "do not belong in an address"),
    "signed": (plain("abfss://c@a.dfs.core.windows.net/x?sv=1&sig=topsecret"), "signed URLs"),
    "nobody there": (nobody_there, "no answer from"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_wrong_is_one_line_without_secrets(
    server: Server, bucket: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (bucket / "x.pcap").write_bytes(LONG[:100])
    (bucket / "text").write_text("hello, I am a log file")
    monkeypatch.setattr(filesystems, "ATTEMPTS", 2)
    make, words = BAD[name]
    began = time.monotonic()
    found = expand([make(server, monkeypatch.setenv)])
    assert time.monotonic() - began < 20
    assert found.sources == []
    (error,) = found.errors
    assert isinstance(error, InputError) and words in str(error) and "\n" not in str(error)
    for secret in (server.secret_key, server.access_key, "topsecret"):
        assert secret not in str(error)


@pytest.mark.parametrize(
    "uri",
    [
        "https://b.s3.amazonaws.com/k?X-Amz-Signature=topsecret",
        "https://KEY:topsecret@host/b",
        "https://KEY:top/topsecret@host/b",
        "https://KEY:topsecret?@host/b",
        "http://topsecret@host/b",
        "abfss://container:topsecret@account.dfs.core.windows.net/x",
        "abfss://container:topsecret/x",
        "abfss://topsecret@c@a.dfs.core.windows.net/x?sig=topsecret",
        "s3:///x?token=topsecret",
    ],
)
def test_an_address_that_is_not_taken_is_told_without_keys(uri: str) -> None:
    """No server is needed: nothing is asked."""
    with pytest.raises(StorageError) as error:
        parse_address(uri)
    said = str(error.value)
    assert said.startswith(uri.partition("//")[0]) and "topsecret" not in said and "KEY:" not in said


@pytest.mark.parametrize("size", [1_000_000, 19_000_000, len(LONG) + 1, 0, None])
def test_an_object_that_changes_while_it_is_read_is_an_error(server: Server, bucket: Path, size: int | None) -> None:
    """pyarrow gives made-up bytes for those that are missing: none of them may pass for the capture's."""
    del server
    path = bucket / "x.pcap"
    path.write_bytes(LONG)
    blocks = one("s3://bucket/x.pcap").blocks()
    got = next(blocks)
    if size is None:
        path.unlink()
        settle()
    else:
        change(path, (LONG + b"x")[:size])
    with pytest.raises(InputError, match=r"changed while it was read|was deleted"):
        for block in blocks:
            got += block
    assert LONG.startswith(got)


@pytest.mark.parametrize("size", [99_999, 64_000, 24])
def test_an_object_that_becomes_shorter_within_one_answer_is_an_error(server: Server, bucket: Path, size: int) -> None:
    """pyarrow says that all bytes came; how many did, it does not say."""
    del server
    path = bucket / "x.pcap"
    path.write_bytes(LONG[:100_000])
    source = one("s3://bucket/x.pcap")
    opened = ObjectReader(StorageEntry(parse_address(source.uri or ""), False, 100_000))
    change(path, LONG[:size])
    with pytest.raises(StorageError, match="changed while it was read"):
        opened.read(100_000)


@pytest.mark.parametrize(
    ("size", "requests"), [(1_000, 1), (reader.FIRST_RANGE_BYTES + 1, 1), (8 << 20, 1), (9 << 20, 3)]
)
def test_a_small_object_is_one_request_for_its_size_and_one_for_its_bytes(
    server: Server, bucket: Path, size: int, requests: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    del server
    (bucket / "x.pcap").write_bytes(LONG[:size])
    source = one("s3://bucket/x.pcap")
    asked = {"size": 0, "bytes": 0}
    plain_range, plain_find = ObjectReader._range, reader.find_object

    def ranged(self: ObjectReader, begin: int, end: int) -> bytes:
        asked["bytes"] += 1
        return plain_range(self, begin, end)

    def found(at: Address) -> StorageEntry | None:
        asked["size"] += 1
        return plain_find(at)

    monkeypatch.setattr(ObjectReader, "_range", ranged)
    monkeypatch.setattr(reader, "find_object", found)
    monkeypatch.setattr(reader.os, "urandom", lambda count: bytes((LONG[size - 1] ^ 1,)) * count)
    assert b"".join(source.blocks()) == LONG[:size]
    assert asked["bytes"] == requests and (asked["size"] == 0) == (requests == 1)


def test_an_object_that_changed_since_it_was_listed_is_an_error(server: Server, bucket: Path) -> None:
    del server
    path = bucket / "x.pcap"
    path.write_bytes(LONG[:5000])
    source = one("s3://bucket/x.pcap")
    change(path, LONG[:4000])
    with pytest.raises(InputError, match="from 5,000 to 4,000 bytes"):
        b"".join(source.blocks())


def test_an_object_that_is_written_again_while_it_is_read_is_an_error(server: Server, bucket: Path) -> None:
    del server
    path = bucket / "x.pcap"
    path.write_bytes(LONG)
    blocks = one("s3://bucket/x.pcap").blocks()
    next(blocks)
    path.write_bytes(LONG[::-1])
    os.utime(path, (1, 1))
    settle()
    with pytest.raises(InputError, match="overwritten"):
        list(blocks)


def test_a_server_that_is_gone_for_two_seconds_is_waited_for(server: Server, bucket: Path) -> None:
    (bucket / "x.pcap").write_bytes(LONG)
    blocks = one("s3://bucket/x.pcap").blocks()
    data = next(blocks)
    server.stop()
    back = threading.Timer(2, server.start)
    back.start()
    try:
        data += b"".join(blocks)
    finally:
        back.join()
    assert data == LONG


def test_a_server_that_is_gone_for_good_is_an_error_and_asked_no_more(
    server: Server, bucket: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # All six tries are half a minute of waiting.
    monkeypatch.setattr(filesystems, "ATTEMPTS", filesystems.ATTEMPTS if effort.LONG else 3)
    for name in ("x.pcap", "y.pcap"):
        (bucket / name).write_bytes(LONG)
    source, other = expand(["s3://bucket/"]).sources
    blocks = source.blocks()
    next(blocks)
    server.stop()
    began = time.monotonic()
    with pytest.raises(InputError, match=rf"no answer from .* after {filesystems.ATTEMPTS} tries"):
        list(blocks)
    assert time.monotonic() - began < 100  # two ranges may have been tried one after the other
    began = time.monotonic()
    with pytest.raises(InputError, match="no answer from"):
        next(other.blocks())
    assert time.monotonic() - began < 1


def test_a_file_of_spark_whose_last_bytes_cannot_be_written_is_gone(tmp_path: Path) -> None:
    def pieces() -> Iterator[bytes]:
        yield b"PAR1"
        raise OSError("no space left")

    with pytest.raises(OSError, match="no space left"):
        sink._store(pieces(), "exchanges/part-00000.parquet", str(tmp_path))
    assert list((tmp_path / "exchanges").iterdir()) == []
