#!/usr/bin/env bash
# The median of an odd number of nanosecond moments is none of them, for Polars, pandas and, by one name of two, DuckDB.
#
# Expected: of seven moments the median is the fourth; quantile(interpolation="nearest") is one of the values by its very
#   name.
# Seen: Polars 2.1.0 (median, mean, quantile "nearest") and pandas 3.1.1 (median, mean) go through float64, which knows
#   today's nanoseconds in steps of 256 only: the answer lies 24 ns before the fourth moment and before the first of the seven
#   even. It has the type datetime[ns] and nine digits, so nothing looks rounded. pandas' quantile "nearest" is exact. DuckDB
#   2.0.1's median and avg of TIMESTAMP_NS are exact as well, but its quantile_cont(t, 0.5) is a TIMESTAMP: rounded to a
#   microsecond, behind all seven. Its median of a BIGINT column is a DOUBLE; quantile_disc is not.
# Why it matters: merging by "nearest moment", bins that start at a quantile, and joins back to the row by its time find no
#   row.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install polars==2.1.0 pandas==3.1.1 pyarrow==26.0.1 duckdb==2.0.1

env/bin/python - > seen <<'PY'
import duckdb, pandas, polars
import pyarrow as pa, pyarrow.parquet as pq

FIRST = 1_795_827_358_123_456_789
moments = pa.array([FIRST + n for n in range(7)])
pq.write_table(pa.table({"t": moments.cast(pa.timestamp("ns")), "n": moments}), "moments.parquet")

t = polars.read_parquet("moments.parquet")["t"]
for name, value in (
    ("median", polars.select(polars.lit(t).median())),
    ("mean", polars.select(polars.lit(t).mean())),
    ("quantile nearest", polars.select(polars.lit(t).quantile(0.5, "nearest"))),
):
    print("Polars", name, value.dtypes[0], value.to_series().cast(polars.Int64)[0] - FIRST)
t = pandas.read_parquet("moments.parquet")["t"]
for name, value in ("median", t.median()), ("mean", t.mean()), ("quantile nearest", t.quantile(0.5, "nearest")):
    print("pandas", name, value.unit, value.value - FIRST)
for name in "median(t)", "quantile_cont(t, 0.5)", "avg(t)":
    told = duckdb.sql(f"SELECT epoch_ns({name}), typeof({name}) FROM 'moments.parquet'").fetchall()[0]
    print("DuckDB", name, told[1], told[0] - FIRST)
for name in "median(n)", "quantile_disc(n, 0.5)":
    told = duckdb.sql(f"SELECT {name}, typeof({name}) FROM 'moments.parquet'").fetchall()[0]
    print("DuckDB", name, told[1], int(told[0]) - FIRST)
PY

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these versions did when this was written"; exit 1; }
Polars median Datetime(time_unit='ns', time_zone=None) -21
Polars mean Datetime(time_unit='ns', time_zone=None) -21
Polars quantile nearest Datetime(time_unit='ns', time_zone=None) -21
pandas median ns -21
pandas mean ns -21
pandas quantile nearest ns 3
DuckDB median(t) TIMESTAMP_NS 3
DuckDB quantile_cont(t, 0.5) TIMESTAMP 211
DuckDB avg(t) TIMESTAMP_NS 3
DuckDB median(n) DOUBLE -21
DuckDB quantile_disc(n, 0.5) BIGINT 3
EXPECTED
echo "as described: medians of moments that are none of them"
