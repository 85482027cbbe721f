"""The guide about lakes: Polars reads the files of a dataset that grows, and no others; other engines too read
old files with new ones."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest
from parts_of_captures import days
from paths import ROOT
from pyarrow.dataset import dataset
from recipes import block

from analyzer.base.options import Options
from analyzer.cli.main import main
from analyzer.run import additions, local

PYTHON = ROOT / ".venv-notebooks" / "bin" / "python"
TOLD = """
counted = table("exchanges").select(pl.len(), pl.col("record_bytes").count()).collect().row(0)
print(json.dumps([counted, slowest.select("api_name", "requests").sort("api_name").rows()]))
"""


def test_polars_reads_what_the_manifest_names(samples: Path, tmp_path: Path) -> None:
    if not PYTHON.exists():
        pytest.skip("no environment for notebooks: `make notebooks` makes it")
    to = tmp_path / "kafka"
    for path in days(samples / "throttle.pcap.zst", 2, tmp_path):
        additions.add([str(path)], str(to), Options(jobs=1))
    # A file that counts no more, as a run leaves it that was killed while files moved.
    files = sorted((to / "exchanges").rglob("*.parquet"))
    files[0].with_name("part-of-nobody.parquet").write_bytes(files[0].read_bytes())
    # An older kanalyze wrote this one.
    oldest = min(files, key=lambda path: path.name)
    pq.write_table(pq.read_table(oldest, partitioning=None).drop_columns(["record_bytes"]), oldest)
    known = sum(
        pq.read_table(path, partitioning=None)["record_bytes"].drop_null().length() for path in files if path != oldest
    )
    code = block("lake.md", "import polars") + TOLD
    ran = subprocess.run([PYTHON, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stderr
    counted, slowest = json.loads(ran.stdout)
    with local.open_dataset([str(to)], Options(jobs=1)) as dataset:
        (rows,) = dataset.query("SELECT count(*) AS n FROM exchanges")
        asked = dataset.query(
            "SELECT api_name, count(*) AS n FROM exchanges WHERE role = 'client' AND latency_ns IS NOT NULL "
            "GROUP BY api_name ORDER BY api_name"
        )
    assert counted == [rows["n"], known] and rows["n"] == sum(pq.read_metadata(path).num_rows for path in files)
    assert slowest == [[row["api_name"], row["n"]] for row in asked] and len(asked) > 3


def test_new_columns_are_null_in_old_files(samples: Path, tmp_path: Path) -> None:
    """In DuckDB and pyarrow, as the guide says; without what it says both leave them out."""
    for name in ("old", "new"):
        assert main(["export", str(samples / "groups_848.pcap.zst"), "--to", str(tmp_path / name)]) == 0
    old, new = (next((tmp_path / name / "group_events").iterdir()) for name in ("old", "new"))
    rows = pq.read_table(old)
    pq.write_table(rows.drop_columns(["generation"]), old)
    files, known = [str(old), str(new)], rows.num_rows - rows["generation"].null_count
    together = duckdb.read_parquet(files, union_by_name=True).aggregate("count(*), count(generation)")
    assert together.fetchall() == [(2 * rows.num_rows, known)] and known
    found = dataset(files, schema=pq.read_schema(new)).to_table()
    assert (found.num_rows, found.num_rows - found["generation"].null_count) == (2 * rows.num_rows, known)
    assert "generation" not in duckdb.read_parquet(files).columns
    assert "generation" not in dataset(files).schema.names
