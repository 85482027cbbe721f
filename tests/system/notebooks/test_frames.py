"""Frames in pandas and Polars: the same values as in Arrow, with the types that people expect there."""

from __future__ import annotations

import os
import subprocess

import pytest
from effort import also_long, one_in
from paths import ROOT, SAMPLES

PYTHON = ROOT / ".venv-notebooks" / "bin" / "python"

# Runs in the environment of notebooks: the tests' own has neither pandas nor Polars.
RUN = """
import os
import sys
import pandas, polars
import pyarrow as pa
import analyzer
from analyzer.base.tables import TABLES
from analyzer.notebook.frame import Frame
from analyzer.query import metrics

def decoded(column):
    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column

def compare(what, frame):
    wanted = frame.to_arrow()
    df, pl = frame.to_pandas(), frame.to_polars()
    assert list(df.columns) == list(pl.columns) == wanted.column_names and len(df) == len(pl) == wanted.num_rows, what
    for name in wanted.column_names:
        column, kind = decoded(wanted[name]), wanted[name].type
        assert decoded(pa.array(df[name], from_pandas=True)).cast(column.type).equals(column), (what, name, "pandas")
        assert decoded(pl[name].to_arrow()).cast(column.type).equals(column), (what, name, "polars")
        seen = str(df[name].dtype), pl[name].dtype
        if pa.types.is_timestamp(kind) and kind.tz:
            assert seen == ("datetime64[ns, UTC]", polars.Datetime("ns", "UTC")), (what, name, seen)
        elif pa.types.is_duration(kind):
            assert seen == (f"timedelta64[{kind.unit}]", polars.Duration(kind.unit)), (what, name, seen)
        elif pa.types.is_dictionary(kind):
            assert seen == ("category", polars.Categorical), (what, name, seen)
        elif pa.types.is_integer(kind):
            assert seen[0] == str(kind).capitalize(), (what, name, seen)
        elif pa.types.is_boolean(kind):
            assert seen == ("boolean", polars.Boolean), (what, name, seen)
        seen_kinds.add(seen[0])

seen_kinds = set()
wild = [None, -(2**63) + 1, -1, 0, 2**63 - 1]
compare("wild", Frame(pa.table({n: pa.array(wild, pa.int64()) for n in ("time_ns", "latency_ns", "exchange")})))
with analyzer.read(sys.argv[1:]) as cap:
    for table in TABLES:
        compare(table, getattr(cap, table))
    for metric in metrics.names()[:: int(os.environ["STEP"])]:
        compare(metric, cap.metric(metric))
    compare("sql", cap.sql("select * from exchanges"))
    found = cap.findings
    df = found.to_pandas()
    assert len(df) == len(found) == len(found.to_polars()) > 0
    assert list(df.sentence) == [each.sentence for each in found]
    assert str(df.first_time_ns.dtype) == "datetime64[ns, UTC]"
    # Arithmetic that people do.
    x = cap.exchanges.to_pandas()
    late = x.response_time_ns - x.request_end_ns
    assert (late[x.latency_ns.notna()] == x.latency_ns.dropna()).all()
    assert set(x.exchange) == {row["exchange"] for row in cap.exchanges.to_pylist()}
assert {"Int64", "Int32", "boolean", "category", "datetime64[ns, UTC]", "timedelta64[ns]", "object"} <= seen_kinds, seen_kinds
print("compared", len(metrics.names()))
"""


def test_pandas_and_polars_have_what_arrow_has() -> None:
    if not PYTHON.exists():
        pytest.skip("no environment for notebooks: `make notebooks` makes it")
    # Columns of metrics are of the kinds that those of tables are: all metrics are asked by `make test-all`.
    captures = [
        str(SAMPLES / f"{name}.pcap.zst") for name in also_long(["throttle"], ["groups_classic", "transactions"])
    ]
    environment = {**os.environ, "STEP": str(one_in(6))}
    done = subprocess.run(
        [str(PYTHON), "-c", RUN, *captures], capture_output=True, text=True, cwd=ROOT, env=environment, timeout=300
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.startswith("compared")
