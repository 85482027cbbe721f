"""A table has one Parquet schema, whatever its files hold and whoever wrote them: some engines take the columns from one file, and
where that one has no null in a column they read nulls of the others as zero or an empty text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from parts_of_captures import days, later

from analyzer.base.options import Options
from analyzer.base.tables import TABLES, arrow_schema
from analyzer.cli.main import main
from analyzer.query import compaction, export_tables, hours
from analyzer.query.hours import SUMS
from analyzer.run import additions
from analyzer.spark import sink

OPTIONS = Options(jobs=1)
NAMES = ("throttle", "transactions")
SUM_NAMES = {sums.name for sums in SUMS}


@pytest.fixture(scope="module")
def folder(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory in which each is a dataset: exports, also of nothing and in slices, and one that grew by several days."""
    folder = tmp_path_factory.mktemp("schemas")
    (folder / "empty.pcap").write_bytes(bytes.fromhex("d4c3b2a1020004000000000000000000ffff000001000000"))
    with pytest.MonkeyPatch.context() as patch:
        for name in NAMES:
            assert main(["export", str(samples / f"{name}.pcap.zst"), "--to", str(folder / name)]) == 0
            patch.setattr(export_tables, "SLICE_ROWS", 100)
        assert main(["export", str(folder / "empty.pcap"), "--to", str(folder / "empty")]) == 0
        for number, path in enumerate(days(samples / "throttle.pcap.zst", 3, folder)):
            path.write_bytes(later(path.read_bytes(), number * 86_400))
            # The smallest of many are one in some sums, not in others; files of some days are joined.
            patch.setattr(hours, "SUMS", tuple(sums._replace(most=sums.most and 3 + number * 99) for sums in SUMS))
            additions.add([str(path)], str(folder / "grown"), OPTIONS)
    return folder


def schemas(files: list[Path]) -> dict[str, Path]:
    """What Parquet says of the columns: types, repetition, annotations; of each a file that has it."""
    return {str(pq.ParquetFile(file).schema).partition("\n")[2]: file for file in files}


def files(folder: Path, table: str) -> list[Path]:
    return sorted(path for each in folder.iterdir() for path in (each / table).rglob("*.parquet"))


def null_row(table: str) -> pa.RecordBatch:
    """As Spark hands rows to who stores them: with the day behind."""
    columns = arrow_schema(table).append(pa.field("day", pa.int64()))
    return pa.RecordBatch.from_arrays([pa.nulls(1, field.type) for field in columns], schema=columns)


@pytest.mark.parametrize("table", [*TABLES, *sorted(SUM_NAMES)])
def test_all_files_of_a_table_have_one_schema(folder: Path, table: str, tmp_path: Path) -> None:
    found = files(folder, table)
    assert len(found) >= (len(NAMES) if table in TABLES else 3)
    if table in TABLES:
        list(sink.store_partition([null_row(table)], 0, table, str(tmp_path / "rows")))
        sink._write_empty(table, str(tmp_path / "none"))
        found += (of_spark := files(tmp_path, table))
        assert len(of_spark) == 2
    assert len(schemas(found)) == 1, schemas(found)
    assert not [name for name, is_required in repetition(found[0]).items() if is_required]


def repetition(file: Path) -> dict[str, Any]:
    schema = pq.ParquetFile(file).schema
    return {schema.column(place).name: not schema.column(place).max_definition_level for place in range(len(schema))}


@pytest.mark.parametrize("table", sorted(SUM_NAMES))
def test_sums_that_are_joined_keep_it(folder: Path, table: str, tmp_path: Path) -> None:
    class Here:
        """A place whose files are those of the dataset."""

        def get(self, file: str, to: Path) -> None:
            to.write_bytes((folder / "grown" / file).read_bytes())

        def put(self, path: Path, _: str) -> None:
            (tmp_path / "joined.parquet").write_bytes(path.read_bytes())

    found = files(folder, table)
    names = [path.relative_to(folder / "grown").as_posix() for path in found]
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    compaction._join(Here(), table, names[:1], "joined", scratch)  # type: ignore[arg-type]
    assert len(schemas([*found, tmp_path / "joined.parquet"])) == 1
