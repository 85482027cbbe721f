"""Apache's own account of its releases, in `tests/data/kafka`: field lists, keys, error codes, header versions, vectors.

What the files hold says `tests/data/kafka/README.md`. `make release` adds those of a new release.
"""

from __future__ import annotations

import csv
import json
from functools import cache
from pathlib import Path
from typing import Any

import zstandard
from paths import ROOT

FOLDER = ROOT / "tests" / "data" / "kafka"


def releases_in(folder: Path) -> tuple[str, ...]:
    """The releases whose field lists are there, the oldest first."""
    names = (path.name.removeprefix("fields-").removesuffix(".jsonl.zst") for path in folder.glob("fields-*.jsonl.zst"))
    return tuple(sorted(names, key=lambda name: [int(part) for part in name.split(".")]))


RELEASES = releases_in(FOLDER)


def table(name: str) -> list[dict[str, str]]:
    """The rows of `api_keys`, `error_codes` or `header_versions`."""
    with (FOLDER / f"{name}.tsv").open(encoding="utf-8") as lines:
        return list(csv.DictReader(lines, delimiter="\t"))


@cache
def api_keys(release: str) -> dict[int, dict[str, str]]:
    """Key -> its row, of the keys that a release has."""
    return {int(row["key"]): row for row in table("api_keys") if row["release"] == release}


def packed_lines(name: str) -> list[Any]:
    """The objects of a packed file of this folder, one a line."""
    with (FOLDER / name).open("rb") as file:
        text = zstandard.ZstdDecompressor().stream_reader(file).read()
    return [json.loads(line) for line in text.splitlines()]


def messages(release: str) -> list[dict[str, Any]]:
    """Apache's field lists of a release."""
    return packed_lines(f"fields-{release}.jsonl.zst")
