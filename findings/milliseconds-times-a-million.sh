#!/usr/bin/env bash
# 30 s in an int32 column of milliseconds, times a million for nanoseconds: -64771072 in Polars and pandas, 30000000000 in five others.
#
# Expected: a product that does not fit the column's type has a larger one, as sums of int32 have in all of these, or is an error. POWER in
#   SQL is a double. One library gives one product.
# Seen, of 200, 5000 and 30000 as int32 in one Parquet file:
#   ms * 1000000: Polars 2.1.0 (expressions and SQL) and pandas 3.1.1 keep the int32 and wrap around: 5 s are 0.7 s, 30 s are negative.
#     pandas with Arrow's types, pyarrow 25, daft 0.7.26, DataFusion 55 and ClickHouse (chDB 4.4.0) have 5000000000 and 30000000000, and
#     DuckDB 2.0.1 ends the query with an error.
#   POWER(ms, 3) is an int32 too in the SQL of Polars: 30000 cubed is 1835577344, and POWER(2, 63) is 0. No error, no warning.
# Why it matters: durations in Kafka's protocol, timeouts and throttle times among them, are int32 milliseconds, and 2.148 s is the first that
#   does not fit. Fast requests are right, slow ones negative or, from 4.3 s on, fast: just those that one looks for.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install pandas==3.1.1 polars==2.1.0 pyarrow==25.0.1 duckdb==2.0.1 chdb==4.4.0 datafusion==55.0.0 \
    daft==0.7.26
env/bin/python -W ignore - > seen 2> log <<'PY' || { cat log; exit 1; }
import chdb, daft, datafusion, duckdb, pandas, polars
import pyarrow as pa, pyarrow.compute as pc, pyarrow.parquet as pq

rows = pa.table({"ms": pa.array([200, 5000, 30000], pa.int32())})
pq.write_table(rows, "rows.parquet")
context = datafusion.SessionContext()
context.register_parquet("rows", "rows.parquet")
frame, numpy, arrow = polars.read_parquet("rows.parquet"), pandas.read_parquet("rows.parquet"), pandas.read_parquet("rows.parquet", dtype_backend="pyarrow")

def products():
    yield "Polars", frame.select(polars.col("ms") * 1_000_000)["ms"].to_list()
    yield "SQL of Polars", polars.sql("SELECT ms * 1000000 AS ns FROM frame", eager=True)["ns"].to_list()
    yield "pandas", (numpy["ms"] * 1_000_000).tolist()
    yield "pandas with Arrow's types", (arrow["ms"] * 1_000_000).tolist()
    yield "pyarrow", pc.multiply(rows["ms"], 1_000_000).to_pylist()
    yield "daft", daft.read_parquet("rows.parquet").select(daft.col("ms") * 1_000_000).to_pydict()["ms"]
    yield "DataFusion", context.sql("SELECT ms * 1000000 AS ns FROM rows").to_pydict()["ns"]
    yield "ClickHouse", [int(line) for line in chdb.query("SELECT ms * 1000000 FROM file('rows.parquet')").data().split()]
    try:
        yield "DuckDB", [row[0] for row in duckdb.sql("SELECT ms * 1000000 FROM rows").fetchall()]
    except duckdb.OutOfRangeException:
        yield "DuckDB", "an error"

answers = {}
for engine, found in products():
    answers.setdefault(str(found), []).append(engine)
for found, engines in answers.items():
    print(f"{found}: {', '.join(engines)}")
powers = polars.sql("SELECT POWER(ms, 3) AS cube, POWER(2, 63) AS large FROM frame", eager=True)
print("Polars' POWER:", powers["cube"].to_list(), powers["large"][0])
print("DuckDB's:", [row[0] for row in duckdb.sql("SELECT POWER(ms, 3) FROM rows").fetchall()])
PY

diff - seen <<'EXPECTED' || { cat log; echo "CHANGED: not what these versions did when this was written"; exit 1; }
[200000000, 705032704, -64771072]: Polars, SQL of Polars, pandas
[200000000, 5000000000, 30000000000]: pandas with Arrow's types, pyarrow, daft, DataFusion, ClickHouse
an error: DuckDB
Polars' POWER: [8000000, 445948416, 1835577344] 0
DuckDB's: [8000000.0, 125000000000.0, 27000000000000.0]
EXPECTED
echo "as described: 30 s are fewer than none"
