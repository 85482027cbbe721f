"""Apache's own account of its releases, in `tests/data/kafka`: field lists, keys, error codes, header versions, vectors.

What the files hold says `tests/data/kafka/README.md`. `make release` adds those of a new release.
"""

from __future__ import annotations

import csv
import os
from functools import cache
from pathlib import Path
from typing import Any

from tools.release.reference import FOLDER, releases, unpacked

# A folder with vectors that are not kept: of what did not change in a release too.
ALL_VECTORS = Path(os.environ["KANALYZE_VECTORS"]) if "KANALYZE_VECTORS" in os.environ else None


RELEASES = releases()


def table(name: str) -> list[dict[str, str]]:
    """The rows of `api_keys`, `error_codes` or `header_versions`."""
    with (FOLDER / f"{name}.tsv").open(encoding="utf-8") as lines:
        return list(csv.DictReader(lines, delimiter="\t"))


@cache
def api_keys(release: str) -> dict[int, dict[str, str]]:
    """Key -> its row, of the keys that a release has."""
    return {int(row["key"]): row for row in table("api_keys") if row["release"] == release}


@cache
def renames() -> list[dict[str, str]]:
    """Fields that a release gave another name and the same bytes: kanalyze calls them as the newest does."""
    return [row for row in table("renamed") if row["since"] in RELEASES]


@cache
def newer_names(release: str, key: int, direction: str, version: int) -> dict[str, str]:
    """Names of a release -> names since a later one."""
    return {
        row["older"]: row["newer"]
        for row in renames()
        if (int(row["key"]), row["direction"]) == (key, direction)
        and version <= int(row["newest_version"])
        and RELEASES.index(release) < RELEASES.index(row["since"])
    }


def packed_lines(name: str) -> list[Any]:
    """The objects of a packed file of this folder, one a line. `make release` asks once for all messages of a release."""
    folder = ALL_VECTORS if ALL_VECTORS and (ALL_VECTORS / name).is_file() else FOLDER
    return unpacked(folder / name)


def messages(release: str) -> list[dict[str, Any]]:
    """Apache's field lists of a release."""
    return packed_lines(f"fields-{release}.jsonl.zst")
