"""Streams whose errors say where they were met: the errors of writing have no name otherwise."""

from __future__ import annotations

import errno
import io
import os
from typing import Any


class NamedFile(io.FileIO):
    """A file that is called `name` in errors."""

    def __init__(self, place: str | int, mode: str, name: str, closefd: bool = True) -> None:
        super().__init__(place, mode, closefd=closefd)
        self._called = name

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError as error:
            error.filename = self._called
            raise


class ClosedFile(io.RawIOBase):
    """What takes nothing: an OSError for the first byte."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._called = name

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        del data
        raise OSError(errno.EBADF, "is closed, so the answer cannot be written", self._called)


def occupy_standard_descriptors() -> None:
    """Opens those of the descriptors 0, 1 and 2 that are closed, for nothing: else a file that is opened next would get one, and
    what a library writes there would be in it."""
    while (opened := os.open(os.devnull, os.O_RDONLY)) <= 2:
        os.set_inheritable(opened, True)
    os.close(opened)
