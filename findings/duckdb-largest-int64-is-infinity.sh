#!/usr/bin/env bash
# DuckDB 2.0.1 reads the largest int64 of a Parquet timestamp column as infinity; to every other reader it is a moment.
#
# Expected: a timestamp of 9223372036854775807 us (or ns), written by pyarrow or Spark as "never", is the year 294247 (2262).
# Seen: DuckDB's +infinity is that very bit pattern, and -9223372036854775807 is -infinity; the file says nothing of either.
#   Such a row passes every "later than", is the max, has no year (NULL), and a difference with it is an error that ends the
#   query. One unit less is an ordinary moment. Polars, pyarrow, pandas and DataFusion keep the number; ClickHouse (chDB
#   4.4.0) shows microseconds clamped to 9999-12-31 23:59:59, which looks like another common "never". DuckDB writes its own
#   infinity without a sign of it too, so the value changes its meaning with the reader.
# Why it matters: Java programs, Kafka's among them, say "never" by Long.MAX_VALUE. A query over such a column works until the
#   first such row, and age or duration then fails for all rows.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install duckdb==2.0.1 pyarrow==26.0.1 polars==2.1.0 chdb==4.4.0 chdb-core==26.9.0

env/bin/python - > seen <<'PY'
import chdb, duckdb, polars
import pyarrow as pa, pyarrow.parquet as pq

MOST = 2**63 - 1
for unit in "us", "ns":
    values = pa.array([MOST, MOST - 1, -MOST], pa.int64()).cast(pa.timestamp(unit))
    pq.write_table(pa.table({"t": values, "n": [0, 1, 2]}), "file.parquet")
    answers = duckdb.sql("SELECT t::VARCHAR, isinf(t), year(t) FROM 'file.parquet' ORDER BY n").fetchall()
    print(unit, "DuckDB:", *answers)
    try:
        print(duckdb.sql("SELECT max(t - TIMESTAMP '2026-01-01') FROM 'file.parquet'").fetchall())
    except duckdb.Error as error:
        print(unit, "DuckDB, a difference:", str(error).splitlines()[0])
    same = polars.read_parquet("file.parquet")["t"].cast(polars.Int64).to_list() == [MOST, MOST - 1, -MOST]
    print(unit, "Polars keeps the values:", same)
    told = chdb.query("SELECT t FROM file('file.parquet') ORDER BY n LIMIT 1", "TabSeparated").bytes().decode().strip()
    print(unit, "ClickHouse:", told)
duckdb.sql("COPY (SELECT 'infinity'::TIMESTAMP AS t) TO 'own.parquet' (FORMAT parquet)")
print("DuckDB's own infinity in Parquet:", pq.read_table("own.parquet")["t"].cast(pa.int64()).to_pylist())
PY

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these versions did when this was written"; exit 1; }
us DuckDB: ('infinity', True, None) ('294247-01-10 04:00:54.775806', False, 294247) ('-infinity', True, None)
us DuckDB, a difference: Invalid Input Error: Cannot subtract infinite timestamps
us Polars keeps the values: True
us ClickHouse: 9999-12-31 23:59:59.775807
ns DuckDB: ('infinity', True, None) ('2262-04-11 23:47:16.854775806', False, 2262) ('-infinity', True, None)
ns DuckDB, a difference: Invalid Input Error: Cannot subtract infinite timestamps
ns Polars keeps the values: True
ns ClickHouse: 2262-04-11 23:47:16.854775807
DuckDB's own infinity in Parquet: [9223372036854775807]
EXPECTED
echo "as described: the largest int64 is infinity to DuckDB alone"
