"""Most lines of a log become rows without an object for them: the same rows as line by line, of sound lines and of spoiled ones."""

from __future__ import annotations

import gzip
import random
from pathlib import Path
from typing import Any

import cramjam
import pyarrow.parquet as pq
import pytest
from paths import ROOT

from analyzer.request_log import log_exchanges
from analyzer.request_log.log_exchanges import LogExchanges
from analyzer.request_log.log_reader import LogFile

DATA = ROOT / "tests" / "data"
LAB = bytes(cramjam.zstd.decompress((DATA / "logged" / "kafka44_failover.requests.jsonl.zst").read_bytes()))
NEW = gzip.decompress((DATA / "request_logs" / "kafka_391.log.gz").read_bytes())
OLD = bytes(cramjam.zstd.decompress((DATA / "request_logs" / "kafka_241.log.zst").read_bytes()))
VALUES = [
    *b'null true -1 0 35 1.5 1e5 1.0E7 604800000 604800000.001 "" "x" [] {} [[1]] "a\\u0041" 2147483648 -32769'.split(),
    *(b"9223372036854775807", b"-9223372036854775808", b"9223372036854775808", b"9" * 30, b"0.0000001", b"35.0"),
    *(b'"AAAAAAAAAAAAAAAAAAAAAA"', b'"A+/AAAAAAAAAAAAAAA-_zQ"', b'"AAAAAAAAAAA=AAAAAAAAAA"', b'"\xc3\xa9"', b'"\xff"'),
    *(
        b'"Completed request:"',
        b'"' + b"q" * 40_000 + b'"',
        b'"MemoryRecords(size=17)=5"',
        b'{"size":4}',
        b'{"a":' * 600,
    ),
]
BEFORE = [
    b"[2026-05-01 12:00:00,250] DEBUG Completed request:",
    b"2026-05-01T10:00:00.123456789Z stdout F [2026-05-01 12:00:00,1] DEBUG Completed request:",
    b"[2026-05-01 12:00:00.250+0530] Completed request:",
    b"[2026-02-29 12:00:00] Completed request:",
    b"[2024-02-29 23:59:59.123456789Z] Completed request:",
    b"[1970-01-01 00:00:00] Completed request:",
    b"[2115-12-31 24:00:00] Completed request:",
    b"x12026-05-01 12:00:00 Completed request:",
    b"[2026-05-01 12:00:00] " + b"a" * 400 + b"Completed request:",
    b"2026-05-01 12:00:00,2-2026-05-01 12:00:00 Completed request:",
    b" ",
]


class _ByObjects(LogExchanges):
    """Reads every line with objects."""

    def read(self, text: bytes | None, file: LogFile) -> None:
        for line in (text or b"").removesuffix(b"\n").split(b"\n"):
            self.rows.line += 1
            self._read_line(line, file)
        file.requests = self.rows.requests


def rows(folder: Path, kind: type[LogExchanges], blocks: list[bytes]) -> dict[str, Any]:
    """The raw tables of blocks of lines, and what a person is told of them."""
    folder.mkdir()
    file, exchanges = LogFile("x"), kind(folder)
    exchanges.begin(3)
    for block in blocks:
        exchanges.read(block, file)
    counts = exchanges.finish()
    found: dict[str, Any] = {path.name: pq.read_table(path).to_pylist() for path in sorted(folder.iterdir())}
    return found | {"file": file, "counts": counts, "keys": exchanges.keys, "unread": exchanges.rows.unread}


def differing(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """What is not the same, without the rows themselves."""
    return [name for name in one if one[name] != other[name]]


def spoiled(choose: random.Random, line: bytes) -> bytes:
    """A line with some of its values changed, or bytes of it; or another form of its begin and its end."""
    if choose.random() < 0.3:
        line = choose.choice(BEFORE) + line[max(line.find(b"{"), 0) :]
    way = choose.random()
    for _ in range(choose.choice((1, 1, 2))):
        colon = line.find(b":", choose.randrange(len(line) + 1))
        if way < 0.6 and colon >= 0:
            end = min((found for found in (line.find(mark, colon) for mark in b",]}") if found >= 0), default=colon)
            line = line[: colon + 1] + choose.choice(VALUES) + line[end:]
        elif way < 0.8 and line:
            at = choose.randrange(len(line))
            line = line[:at] + bytes((choose.randrange(256),)) + line[at + choose.choice((0, 1, 40)) :]
    return line + choose.choice((b"", b"", b" (kafka.request.logger)", b"\r", b" \xff", b"}"))


def test_lines_as_brokers_write_them(tmp_path: Path) -> None:
    for number, log in enumerate((LAB, NEW, OLD)):
        expected = rows(tmp_path / f"objects{number}", _ByObjects, [log])
        assert not differing(rows(tmp_path / f"rows{number}", LogExchanges, [log]), expected)
        assert expected["counts"]["exchanges"] > 20


def test_most_lines_are_read_without_objects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With objects are read the first line of each connection, and the first of each API."""
    read: list[bytes | None] = []
    by_objects = LogExchanges._read_line

    def noted(self: LogExchanges, line: bytes | None, file: LogFile) -> None:
        read.append(line)
        by_objects(self, line, file)

    monkeypatch.setattr(LogExchanges, "_read_line", noted)
    assert rows(tmp_path / "rows", LogExchanges, [LAB * 3])["counts"]["exchanges"] > 10 * len(read)


@pytest.mark.parametrize("most_rows", [16_381, 7])
def test_spoiled_lines_are_the_same_rows(most_rows: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With room for few rows too, few texts and few connections."""
    choose = random.Random(most_rows)
    sound = [line for line in (*LAB.splitlines(), *NEW.splitlines(), *OLD.splitlines()) if len(line) < 4_000]
    lines = []
    for _ in range(400 if most_rows > 100 else 100):
        lines += [spoiled(choose, choose.choice(sound)), choose.choice(sound)]
    if most_rows < 100:
        monkeypatch.setattr(log_exchanges, "MOST_ROWS", most_rows)
        monkeypatch.setattr(log_exchanges, "MOST_TEXTS", 20)
    cuts = sorted(choose.choices(range(len(lines)), k=20))
    blocks = [b"\n".join(lines[a:b]) + b"\n" for a, b in zip([0, *cuts], [*cuts, len(lines)], strict=True) if a < b]
    expected = rows(tmp_path / "objects", _ByObjects, blocks)
    assert not differing(rows(tmp_path / "rows", LogExchanges, blocks), expected)
    assert expected["counts"]["exchanges"] > len(lines) // 4 and expected["file"].unreadable > len(lines) // 20
