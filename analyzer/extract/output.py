"""Where a capture is written to: a file here or an object in storage, compressed by its name, that appears when it is whole."""

from __future__ import annotations

import gzip
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from analyzer.base import temp_folders
from analyzer.base.storage.addresses import is_storage_uri, parse_address

# Packets hold what people sent: nobody else reads them.
MODE = 0o600


@contextmanager
def written(out: str, temp_dir: Path | None = None) -> Iterator[BinaryIO]:
    """A stream whose bytes are the file or object `out` when the block ends well; after an exception the old one stays, if any.

    Names that end in .gz and .zst are compressed. Raises OSError.
    """
    with finished(out, temp_dir) as path, packed(path, Path(out).suffix) as sink:
        yield sink


@contextmanager
def finished(out: str, temp_dir: Path | None = None) -> Iterator[Path]:
    """A path for a file that becomes `out` when the block ends well. Until then it has another name, in the same directory, or for
    an object in storage in a temporary one. Raises OSError."""
    if is_storage_uri(out):
        folder = temp_folders.make(temp_dir)
        try:
            yield folder / "unfinished"
            _upload(folder / "unfinished", out)
        finally:
            temp_folders.remove(folder)
        return
    path = Path(out)
    unfinished = path.with_name(f".{path.name}.unfinished")
    try:
        yield unfinished
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


@contextmanager
def packed(path: Path, suffix: str) -> Iterator[BinaryIO]:
    """A stream that writes a new file, compressed as `suffix` says; only its owner can read it."""
    path.unlink(missing_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    with os.fdopen(os.open(path, flags, MODE), "wb") as plain:
        if suffix == ".gz":
            with gzip.open(plain, "wb") as sink:
                yield cast("BinaryIO", sink)
        elif suffix == ".zst":
            import pyarrow as pa

            with pa.CompressedOutputStream(plain, "zstd") as squeezed:
                yield cast("BinaryIO", squeezed)
        else:
            yield plain


def _upload(path: Path, uri: str) -> None:
    """Sends a file; what came of it when it breaks off is removed."""
    from analyzer.base.storage.objects import object_writer, remove_object

    at = parse_address(uri)
    try:
        with path.open("rb") as source, object_writer(at) as target:
            shutil.copyfileobj(source, target, 1 << 20)
    except BaseException:
        remove_object(at)
        raise
