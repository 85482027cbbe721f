"""Key logs that grow: each line is taken once, whole, however it comes."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzer.watch import key_logs
from analyzer.watch.key_logs import GrowingKeyLogs
from dissectors.tls.keys import KeyLog


@pytest.fixture(autouse=True)
def looks_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(key_logs, "LOOK_S", 0)


def line(number: int) -> bytes:
    return b"CLIENT_RANDOM %064x %096x\n" % (number, number)


def test_lines_count_when_they_are_whole(tmp_path: Path) -> None:
    path, keys = tmp_path / "keys", KeyLog()
    path.write_bytes(line(1) + line(2)[:30])
    logs = GrowingKeyLogs([path], keys)
    logs.look()
    assert len(keys) == 1
    with path.open("ab") as file:
        file.write(line(2)[30:] + line(3))
    logs.look()
    assert (len(keys), keys.broken_lines) == (3, 0)


def test_a_log_that_was_written_anew_is_read_from_its_beginning(tmp_path: Path) -> None:
    path, keys = tmp_path / "keys", KeyLog()
    path.write_bytes(line(1) + line(2))
    logs = GrowingKeyLogs([path], keys)
    logs.look()
    path.write_bytes(line(3))
    logs.look()
    assert len(keys) == 3


def test_a_log_that_is_not_there_yet_is_no_error(tmp_path: Path) -> None:
    path, keys = tmp_path / "keys", KeyLog()
    logs = GrowingKeyLogs([path], keys)
    logs.look()
    path.write_bytes(line(1))
    logs.look()
    assert len(keys) == 1
