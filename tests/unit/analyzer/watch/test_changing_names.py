"""Lists of names that are written anew while a capture is watched."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from analyzer.names.name_files import NamesError
from analyzer.watch.changing_names import ChangingNames
from lab.score import DATA


def hosts(names: ChangingNames) -> list[str | None]:
    assert names.names is not None
    return [row.host for row in names.names.rows]


def write(path: Path, text: str) -> None:
    """As one second later, however coarse the times of files are."""
    later = path.stat().st_mtime_ns + 1_000_000_000 if path.exists() else 0
    path.write_text(text)
    os.utime(path, ns=(later, later))


def test_what_was_changed_is_read_again(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    write(one, "10.0.0.1 first\n")
    write(other, "10.0.0.1 less\n10.0.0.2 second\n")
    names = ChangingNames([one, other])
    before = names.names
    assert hosts(names) == ["first", "second"]
    assert names.look() is None and names.names is before
    write(other, "10.0.0.3 third\n")
    assert names.look() is None and hosts(names) == ["first", "third"]


def test_a_list_that_is_half_written_or_gone_changes_nothing(tmp_path: Path) -> None:
    """It is said once, and the next change counts."""
    path = tmp_path / "names"
    write(path, "10.0.0.1 kafka\n")
    names = ChangingNames([path])
    for spoil in (lambda: write(path, "10.0.0.1 kafka\n10.0."), path.unlink):
        spoil()
        trouble = names.look()
        assert trouble is not None and trouble.endswith("; the names read before stay") and str(path) in trouble
        assert names.look() is None and hosts(names) == ["kafka"]
    write(path, "10.0.0.1 broker\n")
    assert names.look() is None and hosts(names) == ["broker"]


def test_without_a_list_nothing_is_looked_for(tmp_path: Path) -> None:
    names = ChangingNames([])
    assert names.look() is None and names.names is None
    with pytest.raises(NamesError, match="no such file"):
        ChangingNames([tmp_path / "nothing"])


def test_a_capture_is_read_once(tmp_path: Path) -> None:
    """It grows with each window, and all of it would be read for each."""
    path = tmp_path / "capture.pcap.zst"
    path.write_bytes((DATA / "names_by_dns.pcap.zst").read_bytes())
    names = ChangingNames([path])
    path.write_bytes(b"no capture any more")
    assert names.look() is None and len(hosts(names)) == 2
