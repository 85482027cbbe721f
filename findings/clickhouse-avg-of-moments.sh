#!/usr/bin/env bash
# ClickHouse (chDB 4.4.0, server 26.9) averages integers in 64 bits: from six nanosecond moments on avg() is wrong, without a
#   word.
#
# Expected: avg() of Int64 is a Float64, so the sum is kept in one as well; pandas, Polars, DuckDB, DataFusion and numpy do
#   so.
# Seen: the sum is an Int64 that wraps, and the quotient looks like any other number: the mean of moments of 2026 is negative
#   or lies in another century. Two of the largest int64 have the mean -1. sum() wraps likewise; median and quantile of Int64
#   do not, and avg(toFloat64(x)) is right.
# Why it matters: 1.8e18 ns are a moment of today; five of them still fit. A trial with a handful of rows is right, the real
#   table is not. Latencies are small enough; offsets at their extremes and ids that are hashes are not.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install chdb==4.4.0 chdb-core==26.9.0 duckdb==2.0.1 pyarrow==26.0.1 polars==2.1.0

env/bin/python - > seen <<'PY'
import chdb, duckdb, polars
import pyarrow as pa, pyarrow.compute as pc, pyarrow.parquet as pq

START = 1_800_000_000_000_000_000

def clickhouse(query):
    return float(chdb.query(query, "TabSeparated").bytes())

for rows in 5, 6:
    pq.write_table(pa.table({"ns": [START] * rows}), "moments.parquet")
    column = polars.read_parquet("moments.parquet")["ns"]
    answers = {
        "ClickHouse avg": clickhouse("SELECT avg(ns) FROM file('moments.parquet')"),
        "ClickHouse avg(toFloat64)": clickhouse("SELECT avg(toFloat64(ns)) FROM file('moments.parquet')"),
        "ClickHouse quantile": clickhouse("SELECT quantile(ns) FROM file('moments.parquet')"),
        "DuckDB": duckdb.sql("SELECT avg(ns) FROM 'moments.parquet'").fetchall()[0][0],
        "Polars": column.mean(),
        "pyarrow": pc.mean(column.to_arrow()).as_py(),
    }
    for engine, mean in answers.items():
        print(f"{rows} equal moments, {engine}: {mean:.4e}")
print("two of the largest:", clickhouse("SELECT avg(x) FROM (SELECT arrayJoin([9223372036854775807, 9223372036854775807])::Int64 AS x)"))
PY

diff - seen <<'EXPECTED' || { echo "CHANGED: not what chDB 4.4.0 did when this was written"; exit 1; }
5 equal moments, ClickHouse avg: 1.8000e+18
5 equal moments, ClickHouse avg(toFloat64): 1.8000e+18
5 equal moments, ClickHouse quantile: 1.8000e+18
5 equal moments, DuckDB: 1.8000e+18
5 equal moments, Polars: 1.8000e+18
5 equal moments, pyarrow: 1.8000e+18
6 equal moments, ClickHouse avg: -1.2745e+18
6 equal moments, ClickHouse avg(toFloat64): 1.8000e+18
6 equal moments, ClickHouse quantile: 1.8000e+18
6 equal moments, DuckDB: 1.8000e+18
6 equal moments, Polars: 1.8000e+18
6 equal moments, pyarrow: 1.8000e+18
two of the largest: -1.0
EXPECTED
echo "as described: ClickHouse's avg wraps from the sixth moment on"
