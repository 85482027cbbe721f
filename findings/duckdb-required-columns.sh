#!/usr/bin/env bash
# DuckDB's COPY makes a Parquet column REQUIRED where it knows of no null, and ClickHouse over several such files loses nulls.
#
# Expected: a nullable column of one table is OPTIONAL in each file that is written of it; and a reader of several files takes a
#   column as nullable if it is so in any of them, as DuckDB, Polars and pyarrow do.
# Seen: DuckDB 2.0.1 writes OPTIONAL or REQUIRED by what it knows of the rows, so two tables of one shape, one day without a null and
#   one with, have different schemas; a part of a table (WHERE) is OPTIONAL. ClickHouse (chDB 4.4.0) takes the schema of the first file that it meets: the nulls of
#   the other become 0 and '', without a word, and are counted as values.
# Why it matters: who appends a file a day to a directory gets other answers from one engine than from all others, and which, depends
#   on the name of the file that sorts first. A relation that DuckDB knows nothing of (UNION ALL of no rows of NULL) is OPTIONAL.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install duckdb==2.0.1 chdb==4.4.0 polars==2.1.0 pyarrow==24.0.0

env/bin/python - > seen 2> log <<'PY' || { cat log; exit 1; }
import chdb, duckdb, polars
import pyarrow.dataset as dataset
import pyarrow.parquet as parquet

days = duckdb.connect()
for day, rows in (1, "('shop', 7), ('bank', 3)"), (2, "(NULL, NULL), ('till', 5)"):
    days.execute(f"CREATE TABLE day{day} (client VARCHAR, code INTEGER)")
    days.execute(f"INSERT INTO day{day} VALUES {rows}")
    days.execute(f"COPY day{day} TO 'day{day}.parquet' (FORMAT parquet)")
    schema = parquet.ParquetFile(f"day{day}.parquet").schema
    told = [f"{schema.column(n).name} {'OPTIONAL' if schema.column(n).max_definition_level else 'REQUIRED'}" for n in range(2)]
    print(f"day {day}:", ", ".join(told))
rows = "FROM day1 UNION ALL BY NAME SELECT NULL AS client, NULL AS code FROM range(0)"
days.execute(f"COPY ({rows}) TO 'known.parquet' (FORMAT parquet)")
schema = parquet.ParquetFile("known.parquet").schema
print("day 1 behind a union:", "OPTIONAL" if schema.column(0).max_definition_level else "REQUIRED")
print("DuckDB:", days.execute("SELECT count(client), sum(code), min(code) FROM read_parquet('day*.parquet')").fetchone())
both = polars.scan_parquet("day*.parquet").select(polars.col("client").count(), polars.col("code").sum(), polars.col("code").min().alias("least"))
print("Polars:", both.collect().row(0))
print("pyarrow:", dataset.dataset(["day1.parquet", "day2.parquet"]).to_table()["client"].null_count, "null")
print("ClickHouse:", str(chdb.query("SELECT count(client), sum(code), min(code) FROM file('day*.parquet')", "CSV")).strip())
PY

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these versions did when this was written"; exit 1; }
day 1: client REQUIRED, code REQUIRED
day 2: client OPTIONAL, code OPTIONAL
day 1 behind a union: OPTIONAL
DuckDB: (3, 15, 3)
Polars: (3, 15, 3)
pyarrow: 1 null
ClickHouse: 4,15,0
EXPECTED
echo "as described: one table, two schemas, and an engine that loses nulls"
