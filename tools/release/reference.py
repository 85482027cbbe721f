"""The folder `tests/data/kafka`: what Apache says of its releases (its README tells what each file is)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import zstandard

FOLDER = Path(__file__).resolve().parents[2] / "tests" / "data" / "kafka"


def releases(folder: Path = FOLDER) -> tuple[str, ...]:
    """The releases whose field lists are there, the oldest first."""
    names = (path.name.removeprefix("fields-").removesuffix(".jsonl.zst") for path in folder.glob("fields-*.jsonl.zst"))
    return tuple(sorted(names, key=in_order))


def in_order(release: str) -> list[int]:
    return [int(part) for part in release.split(".")]


def unpacked(path: Path) -> list[Any]:
    """The objects of a packed file, one a line."""
    with path.open("rb") as file:
        text = zstandard.ZstdDecompressor().stream_reader(file).read()
    return [json.loads(line) for line in text.splitlines()]


def pack(path: Path, rows: Iterable[Any]) -> None:
    """Writes objects, one a line. The same objects give the same bytes."""
    text = "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows)
    path.write_bytes(zstandard.ZstdCompressor(level=22).compress(text.encode()))
