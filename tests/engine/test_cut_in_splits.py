"""A capture cut anywhere gives the rows of the whole one: engine per split, then stitch."""

from __future__ import annotations

import random
import struct
from pathlib import Path

import pytest

from analyzer import local
from analyzer.dataset import Dataset
from analyzer.options import Options
from analyzer.sources import Source, expand
from analyzer.tables import TABLES

# A capture is told by its path, and the pieces have a file header each.
NOT_COMPARED = {"captures": ("path", "bytes")}


def pieces(capture: Path, folder: Path, count: int, seed: int) -> list[local.Split]:
    """Cuts a little-endian pcap file at packet boundaries into `count` files."""
    raw = b"".join(expand([str(capture)]).sources[0].blocks())
    assert raw[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1")
    starts = [24]
    while starts[-1] + 16 <= len(raw):
        starts.append(starts[-1] + 16 + struct.unpack_from("<I", raw, starts[-1] + 8)[0])
    cuts = sorted(random.Random(seed).sample(starts[1:-1], count - 1))
    splits = []
    for number, (start, end) in enumerate(zip([24, *cuts], [*cuts, len(raw)], strict=True)):
        path = folder / f"{number}.pcap"
        path.write_bytes(raw[:24] + raw[start:end])
        splits.append(local.Split(Source(str(path), path), file=0))
    return splits


def rows(dataset: Dataset, table: str) -> list[str]:
    left_out = NOT_COMPARED.get(table, ())
    found = dataset.query(f"SELECT * FROM {table}")
    return sorted(repr({name: value for name, value in row.items() if name not in left_out}) for row in found)


def compare(capture: Path, folder: Path, count: int, seed: int) -> None:
    with local.open_dataset([str(capture)], Options()) as whole:
        expected = {table: rows(whole, table) for table in TABLES}
    with local.open_splits(pieces(capture, folder, count, seed), Options()) as cut:
        for table in TABLES:
            assert rows(cut, table) == expected[table], table
    assert expected["exchanges"]


@pytest.mark.parametrize("name", ["throttle", "groups_classic", "old_java", "ipv6"])
@pytest.mark.parametrize("count", [2, 3, 17])
def test_samples_cut_in_splits(name: str, count: int, samples: Path, tmp_path: Path) -> None:
    found = sorted(samples.glob(f"{name}.pcap*"))
    if not found:
        pytest.skip(f"{name} is not among the samples")
    compare(found[0], tmp_path, count, seed=count)


@pytest.mark.parametrize("name", ["basics", "sasl_old", "routed_client", "shape_late", "errors", "broker_11"])
def test_lab_captures_cut_in_three(name: str, shared: Path, tmp_path: Path) -> None:
    found = sorted((shared / "captures" / "lab").glob(f"{name}.pcap*"))
    compare(found[0], tmp_path, count=3, seed=len(name))
