"""The captures of others in shared/captures/public/edge, what tshark counted in them, and where we count otherwise."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path
from typing import NamedTuple

from paths import SHARED

PUBLIC = SHARED / "captures" / "public"


class Counted(NamedTuple):
    """Numbers of tshark; None where it does not open the file."""

    path: Path
    packets: int | None
    tcp_packets: int
    tcp_streams: int


@cache
def edge_files() -> list[Counted]:
    """The files of edge/ in the order of the manifest; none without the shared folder."""
    manifest = PUBLIC / "MANIFEST.tsv"
    if not manifest.exists():
        return []
    with manifest.open(newline="") as file:
        rows = [row for row in csv.DictReader(file, delimiter="\t") if row["path"].startswith("edge/")]
    return [
        Counted(
            PUBLIC / row["path"],
            None if row["packets"] == "?" else int(row["packets"]),
            int(row["tcp_packets"]),
            int(row["tcp_streams"]),
        )
        for row in rows
    ]


def name_of(file: Counted) -> str:
    return f"{file.path.parent.name}/{file.path.name}"
