"""Temporary directories of runs, and of files that grow beside the place that they will have; those that killed runs left behind.

A run that is killed (SIGKILL, no power) cannot remove its own. The next run does: each directory holds a file that its owner
keeps locked (flock), and a lock ends with the last process that has it, workers included. Only directories with a name and a
file like ours are looked at, of this user, and on a file system without locks none is removed.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

_PREFIX = "kanalyze-run-"
_HIDDEN_PREFIX = f".{_PREFIX}"
_NAME = re.compile(rf"\.?{_PREFIX}\w{{8}}")
_LOCK = "owner.lock"

# Directories of this process -> the descriptor that holds the lock.
_held: dict[Path, int] = {}


def make(parent: Path | None = None) -> Path:
    """A new directory below `parent` (None: the system's), which is this process's until `remove`. What runs that are gone left
    behind there is removed.

    Raises OSError, also for a parent whose name is not UTF-8: neither Arrow nor the SQL engine can open files there.
    """
    below = Path(tempfile.gettempdir() if parent is None else parent)
    try:
        str(below).encode()
    except UnicodeEncodeError:
        raise OSError(errno.EINVAL, "the name is not UTF-8; choose another one with --temp-dir", str(below)) from None
    return _made(below, _PREFIX)


def make_beside(path: Path) -> Path:
    """As `make`, a hidden directory where `path` is or will be: what is made in it can be renamed to `path`. The name may be of any
    bytes: who gives it to Arrow or the SQL engine looks. Raises OSError."""
    return _made(path.parent, _HIDDEN_PREFIX)


def _made(below: Path, prefix: str) -> Path:
    _remove_left_over(below)
    while True:
        made = Path(tempfile.mkdtemp(prefix=prefix, dir=below))
        lock = os.open(made / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        with suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_EX)
        # Between these lines another run may have taken it for one without an owner.
        if os.fstat(lock).st_nlink:
            _held[made] = lock
            return made
        os.close(lock)


def is_of_a_run(name: str) -> bool:
    """Whether a directory of this name is one of these, a hidden one."""
    return name.startswith(".") and _NAME.fullmatch(name) is not None


def remove(made: Path) -> None:
    """Removes a directory of `make` and all that is in it."""
    shutil.rmtree(made, ignore_errors=True)
    if (lock := _held.pop(made, None)) is not None:
        os.close(lock)


def _remove_left_over(below: Path) -> None:
    names = []
    with suppress(OSError), os.scandir(below) as entries:
        names = [entry.name for entry in entries if _NAME.fullmatch(entry.name) and _is_mine(entry)]
    for name in names:
        _remove_if_left(below / name)


def _is_mine(entry: os.DirEntry[str]) -> bool:
    return entry.is_dir(follow_symlinks=False) and entry.stat(follow_symlinks=False).st_uid == os.geteuid()


def _remove_if_left(found: Path) -> None:
    try:
        lock = os.open(found / _LOCK, os.O_RDWR | os.O_NOFOLLOW)
    except OSError:
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(found, ignore_errors=True)
    except OSError:
        pass  # its owner is at work, or there are no locks here
    finally:
        os.close(lock)
