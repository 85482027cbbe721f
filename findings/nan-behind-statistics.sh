#!/usr/bin/env bash
# NaN in a Parquet file is found or not by who wrote the file: statistics leave NaN out, and engines believe them.
#
# Expected: a filter gives the same rows for a file as for the table that it was written from, and isnan() finds NaN anywhere.
# Seen: the format keeps NaN out of a column's minimum and maximum, so of 1.0, NaN, 2.0 the statistics say 1 to 2. DuckDB 2.0.1
#   finds no NaN with WHERE isnan(x) in pyarrow's and Polars' files, and one with count(*) FILTER (WHERE isnan(x)); its own file
#   has no statistics for such a column and is read right. DataFusion, to which NaN is the largest number, drops the row from
#   x > 100, and max(x) is 2.0 where max(x + 0) is NaN. pyarrow and chDB drop it from NOT x <= 100. Polars 2.1.0 alone gives one
#   answer for all three files. Nothing warns, and one row group of a file may be read wrong, the next right.
# Why it matters: rates and ratios of idle seconds are NaN. A check that counts them over files of two writers, or of one
#   pipeline before and after its writer changed, counts some of them.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install duckdb==2.0.1 polars==2.1.0 pyarrow==26.0.1 datafusion==55.0.0 chdb==4.4.0

env/bin/python - > seen 2> log <<'PY' || { cat log; exit 1; }
import os
import chdb, datafusion, duckdb, polars, pyarrow
import pyarrow.compute as compute, pyarrow.dataset as dataset, pyarrow.parquet as parquet

table = pyarrow.table({"x": [1.0, float("nan"), 2.0]})
database = duckdb.connect()
parquet.write_table(table, "pyarrow.parquet")
polars.from_arrow(table).write_parquet("polars.parquet")
database.execute("COPY (SELECT x FROM \"table\") TO 'duckdb.parquet'")
x, high = dataset.field("x"), polars.col("x")

for writer in "pyarrow", "polars", "duckdb":
    name = f"{writer}.parquet"
    context = datafusion.SessionContext()
    context.register_parquet("file", name)

    def ask(*queries):
        return [database.execute(query.format(f"'{name}'")).fetchall()[0][0] for query in queries]

    def fusion(*queries):
        return [context.sql(query).collect()[0][0][0].as_py() for query in queries]

    counts = [f"SELECT count(*) FROM {{}} WHERE {condition}" for condition in ("isnan(x)", "x > 100", "NOT x <= 100")]
    print(f"written by {writer}: rows with isnan, x > 100, not x <= 100")
    print("  DuckDB", ask(*counts), "FILTER (isnan):", *ask("SELECT count(*) FILTER (WHERE isnan(x)) FROM {}"))
    print("  DataFusion", fusion(*(count.format("file") for count in counts)), "max:", *fusion("SELECT max(x) FROM file", "SELECT max(x + 0) FROM file"))
    inside = [f"SELECT count(*) FROM file('{os.getcwd()}/{name}') WHERE {it}" for it in ("isNaN(x)", "x > 100", "NOT x <= 100")]
    print("  chDB", [int(str(chdb.query(query))) for query in inside])
    print("  pyarrow", [dataset.dataset(name).to_table(filter=it).num_rows for it in (compute.is_nan(x), x > 100, ~(x <= 100))])
    print("  Polars", [len(polars.scan_parquet(name).filter(it).collect()) for it in (high.is_nan(), high > 100, ~(high <= 100))])
PY

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these versions did when this was written"; exit 1; }
written by pyarrow: rows with isnan, x > 100, not x <= 100
  DuckDB [0, 0, 0] FILTER (isnan): 1
  DataFusion [1, 0, 0] max: 2.0 nan
  chDB [1, 0, 0]
  pyarrow [1, 0, 0]
  Polars [1, 1, 1]
written by polars: rows with isnan, x > 100, not x <= 100
  DuckDB [0, 0, 0] FILTER (isnan): 1
  DataFusion [1, 0, 0] max: 2.0 nan
  chDB [1, 0, 0]
  pyarrow [1, 0, 0]
  Polars [1, 1, 1]
written by duckdb: rows with isnan, x > 100, not x <= 100
  DuckDB [1, 1, 1] FILTER (isnan): 1
  DataFusion [1, 1, 1] max: nan nan
  chDB [1, 0, 1]
  pyarrow [1, 0, 1]
  Polars [1, 1, 1]
EXPECTED
echo "as described: NaN is found or not by who wrote the file"
