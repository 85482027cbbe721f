#!/usr/bin/env bash
# Two minus three in unsigned columns: -1, an error or 18446744073709551615, by the engine, and in one library by the function.
#
# Expected: engines agree on the difference of two columns of one Parquet file, or at least one library's ways to it do: a - b
#   of neighbouring rows is what diff() gives.
# Seen: ClickHouse (chDB 4.4.0) widens to a signed type: -1. DuckDB 2.0.1 ends the query with an error. Polars 2.1.0, pyarrow
#   26, DataFusion 55 and pandas 3.1.1 wrap around, but Polars' diff() is signed: -1. pandas' diff() is a float, of what had
#   wrapped before, so it is huge and no longer exact; the same file read with Arrow's types raises ArrowInvalid in pandas. Polars
#   sums uint64 modulo 2^64 as well, as do pandas, pyarrow and DataFusion; DuckDB sums in 128 bits.
# Why it matters: sizes, ports, sequence numbers and ids are unsigned in many exports, and "how much later, how much more" is a
#   difference that is negative at times. One negative row turns a mean or a maximum to nonsense, and half of the engines
#   would have shown it.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install pandas==3.1.1 polars==2.1.0 pyarrow==26.0.1 duckdb==2.0.1 chdb==4.4.0 \
    datafusion==55.0.0
env/bin/python -W ignore - > seen 2> log <<'PY' || { cat log; exit 1; }
import chdb, datafusion, duckdb, pandas, polars
import pyarrow as pa, pyarrow.compute as pc, pyarrow.parquet as pq

def told(name, ask):
    try:
        answer = ask()
    except Exception as error:
        answer = type(error).__name__
    print(f"  {name}: {answer}")

for kind in pa.uint32(), pa.uint64():
    # later minus earlier: 2 - 3 in one row, and 2 behind 3 in column b
    table = pa.table({"a": pa.array([2, 1], kind), "b": pa.array([3, 2], kind)})
    pq.write_table(table, "t.parquet")
    context = datafusion.SessionContext()
    context.register_parquet("t", "t.parquet")
    polar, panda = polars.read_parquet("t.parquet"), pandas.read_parquet("t.parquet")
    arrow = pandas.read_parquet("t.parquet", dtype_backend="pyarrow")
    print(kind)
    told("ClickHouse a - b", lambda: chdb.query("SELECT a - b FROM file('t.parquet') LIMIT 1").data().strip())
    told("DuckDB a - b", lambda: duckdb.sql("SELECT a - b FROM 't.parquet'").fetchall()[0][0])
    told("DataFusion a - b", lambda: context.sql("SELECT a - b AS x FROM t").to_pydict()["x"][0])
    told("pyarrow subtract", lambda: pc.subtract(table["a"], table["b"])[0])
    told("Polars a - b", lambda: (polar["a"] - polar["b"])[0])
    told("Polars diff", lambda: polar["b"].diff()[1])
    told("pandas a - b", lambda: (panda.a - panda.b)[0])
    told("pandas diff", lambda: panda.b.diff()[1])
    told("pandas a - b, Arrow's types", lambda: (arrow.a - arrow.b)[0])
most = pa.table({"x": pa.array([2**64 - 1, 2], pa.uint64())})
context.from_arrow(most, name="most")
print("sum of 2^64 - 1 and 2")
told("DuckDB", lambda: duckdb.sql("SELECT sum(x) FROM most").fetchall()[0][0])
told("DataFusion", lambda: context.sql("SELECT sum(x) AS x FROM most").to_pydict()["x"][0])
told("pyarrow", lambda: pc.sum(most["x"]))
told("Polars", lambda: polars.from_arrow(most)["x"].sum())
told("pandas", lambda: most.to_pandas().x.sum())
PY

diff - seen <<'EXPECTED' || { cat log; echo "CHANGED: not what these versions did when this was written"; exit 1; }
uint32
  ClickHouse a - b: -1
  DuckDB a - b: OutOfRangeException
  DataFusion a - b: 4294967295
  pyarrow subtract: 4294967295
  Polars a - b: 4294967295
  Polars diff: -1
  pandas a - b: 4294967295
  pandas diff: 4294967295.0
  pandas a - b, Arrow's types: ArrowInvalid
uint64
  ClickHouse a - b: -1
  DuckDB a - b: OutOfRangeException
  DataFusion a - b: 18446744073709551615
  pyarrow subtract: 18446744073709551615
  Polars a - b: 18446744073709551615
  Polars diff: -1
  pandas a - b: 18446744073709551615
  pandas diff: 1.8446744073709552e+19
  pandas a - b, Arrow's types: ArrowInvalid
sum of 2^64 - 1 and 2
  DuckDB: 18446744073709551617
  DataFusion: 1
  pyarrow: 1
  Polars: 1
  pandas: 1
EXPECTED
echo "as described: several differences of two columns"
