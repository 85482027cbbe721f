"""Several processes read objects: interpreters of their own, as the clients of storage have threads that no fork survives."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzer.base.options import Options
from analyzer.base.tables import TABLES
from analyzer.distributed.plan import plan
from analyzer.inputs.capture_heads import in_time_order
from analyzer.inputs.expansion import expand
from analyzer.query.dataset import Dataset
from analyzer.run import local


def rows(dataset: Dataset) -> dict[str, list[str]]:
    found = {}
    for table in TABLES:
        every = dataset.arrow(f"SELECT * FROM {table}").to_pylist()
        found[table] = sorted(repr({name: value for name, value in row.items() if name != "path"}) for row in every)
    return found


@pytest.mark.usefixtures("server")
def test_objects_cut_in_tasks_give_the_same_rows(samples: Path, bucket: Path) -> None:
    capture = expand([str(samples / "old_java.pcap.zst")]).sources[0]
    (bucket / "a.pcap").write_bytes(b"".join(capture.blocks()))
    (bucket / "b.pcap.zst").write_bytes((samples / "throttle.pcap.zst").read_bytes())
    made = plan(in_time_order(expand(["s3://bucket/"]).sources), 300_000)
    assert len(made.tasks) > 3
    assert any(piece.source.begin for task in made.tasks for piece in task.pieces)
    with local.open_dataset([str(bucket)], Options()) as here, local.open_plan(made, Options(jobs=2)) as there:
        expected, found = rows(here), rows(there)
    for table in TABLES:
        assert found[table] == expected[table], table
    assert expected["exchanges"]
