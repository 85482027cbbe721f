"""The guide about lakes: MERGE by key brings a table of Iceberg, or of Delta, to the rows of a dataset that grows, whatever
came late and however often it runs."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from environment import python
from jobs import LONG, SECONDS
from parts_of_captures import days
from recipes import block

from analyzer.base.options import Options
from analyzer.run import local

HERE = Path(__file__).resolve().parent
# Release of Spark -> what both have for it.
PACKAGES = {
    "3.5": "org.apache.iceberg:iceberg-spark-runtime-3.5_2.12:1.12.0,io.delta:delta-spark_2.12:3.3.2",
    "4.1": "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0,io.delta:delta-spark_4.1_2.13:4.4.0",
}
NOT_FOUND = "unresolved dependency"


@LONG
def test_merged_tables_have_the_rows_of_the_dataset(samples: Path, tmp_path: Path) -> None:
    release = subprocess.run(
        [python(), "-c", "import pyspark; print(pyspark.__version__)"], capture_output=True, text=True, check=True
    ).stdout.rpartition(".")[0]
    if release not in PACKAGES:
        pytest.skip(f"Iceberg and Delta have nothing for Spark {release}: make test-spark-all asks 3.5")
    recipe = tmp_path / "recipe.py"
    recipe.write_text(block("lake.md", "MERGE INTO"))
    first, second, third = map(str, days(samples / "throttle.pcap.zst", 3, tmp_path))
    line = [python(), str(HERE / "merge_days.py"), str(recipe), str(tmp_path), PACKAGES[release], first, third, second]
    ran = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, timeout=SECONDS)
    if NOT_FOUND in ran.stdout + ran.stderr:
        pytest.skip("Iceberg and Delta cannot be had from Maven Central")
    assert ran.returncode == 0, ran.stderr[-4_000:]
    found = json.loads(ran.stdout.splitlines()[-1])
    with local.open_dataset([str(tmp_path / "kafka")], Options(jobs=1)) as dataset:
        rows = dataset.query("SELECT exchange, status, latency_ns FROM exchanges")
    expected = sorted((list(row.values()) for row in rows), key=repr)
    assert found["iceberg"] == found["delta"] and len(expected) > 100
    of_first, early, whole = found["delta"]
    assert whole == expected
    # What came late changed rows that were there, and took some away.
    assert set(map(repr, early)) - set(map(repr, whole)) and len(of_first) < len(early) < len(whole)
