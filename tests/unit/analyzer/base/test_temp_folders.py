"""Temporary directories: gone after `remove`; what a killed process left is removed by the next run, and nothing else is."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from analyzer.base import temp_folders


def made_elsewhere(parent: Path, kill: bool) -> tuple[int, Path]:
    """A directory of another process, which was killed or still lives: (its number, the directory)."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, os.fsencode(temp_folders.make(parent)))
        time.sleep(60)
        os._exit(0)
    made = Path(os.fsdecode(os.read(reading, 4096)))
    if kill:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    return child, made


def test_a_directory_goes_with_all_that_is_in_it(tmp_path: Path) -> None:
    made = temp_folders.make(tmp_path)
    (made / "raw").mkdir()
    (made / "raw" / "x").write_text("x")
    assert list(tmp_path.iterdir()) == [made]
    temp_folders.remove(made)
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_run_left_is_removed_by_the_next(tmp_path: Path) -> None:
    _, left = made_elsewhere(tmp_path, kill=True)
    (left / "rows.parquet").write_bytes(b"x" * 1000)
    mine = temp_folders.make(tmp_path)
    assert list(tmp_path.iterdir()) == [mine]
    temp_folders.remove(mine)


def test_what_others_use_or_is_not_ours_stays(tmp_path: Path) -> None:
    child, used = made_elsewhere(tmp_path, kill=False)
    kept = [used, temp_folders.make(tmp_path), tmp_path / "kanalyze-run-captures", tmp_path / "kanalyze-run-abcdefgh"]
    for folder in kept[2:]:
        folder.mkdir()  # of somebody who chose such a name: no lock in it
    mine = temp_folders.make(tmp_path)
    try:
        assert set(tmp_path.iterdir()) == {*kept, mine}
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        temp_folders.remove(mine)
        temp_folders.remove(kept[1])


def test_a_lock_lives_as_long_as_a_worker_of_its_owner(tmp_path: Path) -> None:
    """A worker is a fork: while one works, the directory is in use."""
    made = temp_folders.make(tmp_path)
    worker = os.fork()
    if worker == 0:
        time.sleep(60)
        os._exit(0)
    os.close(temp_folders._held.pop(made))  # as if the owner were gone
    try:
        temp_folders.remove(temp_folders.make(tmp_path))
        assert made.exists()
    finally:
        os.kill(worker, signal.SIGKILL)
        os.waitpid(worker, 0)
    temp_folders.remove(temp_folders.make(tmp_path))
    assert not made.exists()


def test_a_place_whose_name_is_no_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="not UTF-8"):
        temp_folders.make(tmp_path / os.fsdecode(b"a\xff"))
