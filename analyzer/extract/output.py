"""Where a capture is written to: a file here, compressed by its name, that appears when it is whole."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

# Packets hold what people sent: nobody else reads them.
_MODE = 0o600


@contextmanager
def written(path: Path) -> Iterator[BinaryIO]:
    """A stream whose bytes are the file at `path` when the block ends well; after an exception the old file stays, if any.

    Names that end in .gz and .zst are compressed. Raises OSError.
    """
    unfinished = path.with_name(f".{path.name}.unfinished")
    try:
        with (
            open(unfinished, "wb", opener=lambda name, flags: os.open(name, flags, _MODE)) as plain,
            _packed(plain, path.suffix) as sink,
        ):
            yield sink
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


@contextmanager
def _packed(plain: BinaryIO, suffix: str) -> Iterator[BinaryIO]:
    if suffix == ".gz":
        with gzip.open(plain, "wb") as sink:
            yield cast("BinaryIO", sink)
    elif suffix == ".zst":
        import pyarrow as pa

        with pa.CompressedOutputStream(plain, "zstd") as packed:
            yield cast("BinaryIO", packed)
    else:
        yield plain
