"""Captures of other people's software, of proxies and translated addresses, cut at random into files, tasks and jobs: equal rows.

KANALYZE_LONG=1 takes 200 splits, the first is number KANALYZE_SEED (0); with the shared captures beside the checkout.
"""

from __future__ import annotations

from functools import cache
from itertools import accumulate, pairwise
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from effort import LONG
from parts_agree import agree
from parts_of_captures import LITTLE_ENDIAN, content, packets
from paths import ROOT, SHARED
from runs_apart import compared
from test_tasks_cut_anywhere import SEED, compare

from analyzer.base import workers
from analyzer.base.options import Options
from analyzer.base.tables import TABLES
from analyzer.run import local, strategy

_DATA = ROOT / "tests" / "data"
_LAB = (
    *("nat_both_ways", "nat_source", "port_forward", "proxy_day", "proxy_two_addresses", "tls_ends_at_proxy"),
    *("connect_start", "mirror_maker_start", "streams_day", "flink_day", "balancer_checks", "redirect_sidecar"),
)
# Without it both addresses translated, two proxies, what a host redirects, many clients of one application; each way twice.
SEEDS = range(SEED, SEED + 200) if LONG else (0, 2, 4, 5, 7, 9)
Rows = dict[str, list[str]]


def captures() -> list[Path]:
    """Those that the project carries; by `make test-all` the shared ones too."""
    found = [_DATA / "incidents" / f"{name}.pcap.zst" for name in _LAB]
    found += sorted((_DATA / "threads").glob("*.pcap.zst"))
    if LONG:
        found += [
            path for kind in ("wild", "reports") for path in sorted((SHARED / "captures" / kind).glob("*.pcap.zst"))
        ]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_rows_are_the_same(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    among = captures()
    path = among[seed % len(among)]
    raw = content(path)
    assert raw[:4] in LITTLE_ENDIAN
    chance = Random(seed)
    # Prime to the number of captures or not: one way after the other has each of them.
    how = (seed + seed // len(among)) % 3
    if how == 0:
        compare(raw, tmp_path / "tasks", seed, monkeypatch, expected=of_one_process(path), apart=False)
        return
    if how == 1:
        monkeypatch.setattr(workers, "has_threads", lambda: False)
        monkeypatch.setattr(strategy, "is_small", lambda _: False)
    found = rows(tmp_path, in_files(raw, chance), Options(jobs=chance.randint(2, 4) if how == 1 else 1))
    for table in TABLES:
        if table != "captures":
            assert agree(table, found[table], of_one_process(path)[table]), table


@cache
def of_one_process(path: Path) -> Rows:
    with TemporaryDirectory() as folder:
        return rows(Path(folder), [content(path)], Options(jobs=1))


def in_files(raw: bytes, chance: Random) -> list[bytes]:
    """The capture as some files, one after the other."""
    starts = packets(raw)
    count = len(starts) - 1
    inner = sorted(chance.sample(range(1, count), min(count - 1, chance.randint(1, 9)))) if count > 1 else []
    edges = [0, *inner, count]
    return [raw[:24] + raw[starts[begin] : starts[end]] for begin, end in pairwise(edges)]


def rows(folder: Path, files: list[bytes], options: Options) -> Rows:
    """The rows of each table; packets are numbered through all files. The files are given in another order than that of time."""
    paths = [folder / f"{number}.pcap" for number in range(len(files))]
    for path, file in zip(paths, files, strict=True):
        path.write_bytes(file)
    with local.open_dataset([str(path) for path in reversed(paths)], options) as dataset:
        counts = dataset.query("SELECT file, packets FROM captures ORDER BY file")
        before = list(accumulate((row["packets"] for row in counts), initial=0))
        return {
            table: sorted(
                repr(compared(table, numbered(row, before))) for row in dataset.query(f"SELECT * FROM {table}")
            )
            for table in TABLES
        }


def numbered(row: dict[str, Any], before: list[int]) -> dict[str, Any]:
    for name in [name for name in row if name.endswith("file")]:
        packet = f"{name.removesuffix('file')}packet"
        if row[name] is not None and row.get(packet) is not None:
            row |= {name: 0, packet: row[packet] + before[row[name]]}
    return row
