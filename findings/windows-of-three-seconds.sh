#!/usr/bin/env bash
# "The last three seconds" of a row has four rows in SQL, three in Polars and pandas, and in pandas fewer where rows share a moment.
#
# Expected: a rolling window of 3 s over one row a second holds the same rows in every library, and rows of one moment the same number.
# Seen, with rows at 0, 0, 1, 2, 3, 4 and 5 s:
#   RANGE BETWEEN 3 s PRECEDING AND CURRENT ROW of DuckDB 2.0.1, DataFusion 55 and ClickHouse (chDB 4.4.0) has both ends: a rate of
#     one row a second is 4 in 3 s. Their windows hold a row exactly three seconds old.
#   Polars 2.1.0 and pandas 3.1.1 leave it out. So does Polars' rolling_sum_by().
#   Of two rows at 0 s each is in the window of the other in SQL and Polars. In pandas the first has 1 and the second 2, and which row
#     is the first is the order of the file.
# Why it matters: rates, error shares and alerts "over the last minute" are made so, and captures rounded to milliseconds or
#   seconds have many rows of one moment. Moving such a query from pandas to SQL changes counts by a row per window.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
command -v python3 >/dev/null || { echo "needs python3"; exit 1; }
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install pandas==3.1.1 polars==2.1.0 pyarrow==26.0.1 duckdb==2.0.1 chdb==4.4.0 datafusion==55.0.0
env/bin/python -W ignore - > seen 2> log <<'PY' || { tail -3 log; exit 1; }
import datetime
import chdb, datafusion, duckdb, polars
import pyarrow as pa, pyarrow.parquet as pq

start = datetime.datetime(2026, 1, 1)
moments = [start + datetime.timedelta(seconds=second) for second in (0, 0, 1, 2, 3, 4, 5)]
table = pa.table({"t": pa.array(moments, pa.timestamp("us")), "x": [1] * 7})
pq.write_table(table, "t.parquet")
context = datafusion.SessionContext()
context.register_parquet("t", "t.parquet")
polar, panda = polars.from_arrow(table), table.to_pandas()

sql = "SELECT count(*) OVER (ORDER BY t RANGE BETWEEN {} PRECEDING AND CURRENT ROW) AS n FROM {} ORDER BY t"
seconds = "INTERVAL '3 seconds'"
print("DuckDB    ", [row[0] for row in duckdb.execute(sql.format(seconds, "'t.parquet'")).fetchall()])
print("DataFusion", context.sql(sql.format(seconds, "t")).to_pydict()["n"])
# ClickHouse's windows of whole seconds are over a DateTime
inner = "(SELECT toDateTime(t) AS t FROM file('t.parquet'))"
print("ClickHouse", [int(line) for line in chdb.query(sql.format(3, inner)).data().split()])
print("Polars    ", polar.rolling("t", period="3s").agg(polars.len())["len"].to_list())
print("Polars' by", polar.select(polars.col("x").rolling_sum_by("t", "3s"))["x"].to_list())
print("pandas    ", panda.rolling("3s", on="t").x.sum().astype(int).tolist())
PY

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these versions did when this was written"; exit 1; }
DuckDB     [2, 2, 3, 4, 5, 4, 4]
DataFusion [2, 2, 3, 4, 5, 4, 4]
ClickHouse [2, 2, 3, 4, 5, 4, 4]
Polars     [2, 2, 3, 4, 3, 3, 3]
Polars' by [2, 2, 3, 4, 3, 3, 3]
pandas     [1, 2, 3, 4, 3, 3, 3]
EXPECTED
echo "as described: three answers to the last three seconds"
