#!/usr/bin/env bash
# A decimal divided by three has no decimal places, six, eight or is a double, cut off or rounded, and one engine's product wraps around.
#
# Expected: a decimal type is there for exact sums, so engines agree on a share or a mean of it to more places than the column has, and
#   where a result does not fit they say so.
# Seen, of decimals with two places in one Parquet file:
#   0.05 / 3 (sum(d) / 3): 0.01 in ClickHouse (chDB 4.4.0, cut off), 0.016666 in DataFusion 55 (cut off), 0.01666667 in the SQL of
#     Polars 2.1.0, 0.02 by Polars' own "/" and in pyarrow's mean(), a double in DuckDB 2.0.1. -0.01 / 3 is 0 in ClickHouse.
#   ROUND(0.03 / 2, 2): 0.02 in DataFusion and Polars; 0.01 in DuckDB (a double's 0.015 lies below) and in ClickHouse (cut before).
#   -9999999.99 as an integer: -10000000 in DuckDB, -9999999 in the others.
#   The square of 35 nines: ClickHouse returns another number, although decimal_check_overflow is on; the others raise.
# Why it matters: costs, rates and shares are decimals where somebody wanted to be exact. A cost of 0.05 split in three is 0.03 or 0.06
#   when added up again, and moving a query to another engine changes it by a third.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
command -v python3 >/dev/null || { echo "needs python3"; exit 1; }
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install polars==2.1.0 pyarrow==26.0.1 duckdb==2.0.1 chdb==4.4.0 datafusion==55.0.0
env/bin/python - > seen 2> log <<'PY' || { tail -3 log; exit 1; }
import decimal
import chdb, datafusion, duckdb, polars
import pyarrow as pa, pyarrow.compute as pc, pyarrow.parquet as pq

def column(digits, *texts):
    return pa.array([decimal.Decimal(text) for text in texts], pa.decimal128(digits, 2))

table = pa.table({"d": column(9, "0.01", "0.01", "0.03"), "n": column(9, *3 * ["-0.01"]), "big": column(9, *3 * ["-9999999.99"]), "huge": column(37, *3 * ["9" * 35 + ".99"])})
pq.write_table(table, "t.parquet")
context = datafusion.SessionContext()
context.register_parquet("t", "t.parquet")
polar = polars.read_parquet("t.parquet")
engines = {
    "ClickHouse": lambda ask: chdb.query(f"SELECT {ask} FROM file('t.parquet')").data().strip(),
    "DataFusion": lambda ask: context.sql(f"SELECT {ask} AS x FROM t").to_pydict()["x"][0],
    "DuckDB": lambda ask: duckdb.execute(f"SELECT {ask} FROM 't.parquet'").fetchone()[0],
    "Polars": lambda ask: polars.SQLContext(t=polar).execute(f"SELECT {ask} AS x FROM t", eager=True)["x"][0],
}
for ask in "sum(d)", "sum(d) / 3", "max(n) / 3", "round(max(d) / 2, 2)", "sum(d) / 3 + sum(d) / 3 + sum(d) / 3", "cast(max(big) AS bigint)", "max(huge) * max(huge)":
    told = []
    for name, run in engines.items():
        try:
            told.append(f"{name} {run(ask)}")
        except Exception as error:
            told.append(f"{name} raises")
    print(f"{ask}: {', '.join(told)}")
print("Polars 0.05 / 3:", polar.select(polars.col("d").sum() / 3).item(), "pyarrow mean:", pc.mean(table["d"]))
print("ClickHouse decimal_check_overflow:", chdb.query("SELECT value FROM system.settings WHERE name = 'decimal_check_overflow'", "TSV").data().strip())
PY

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these versions did when this was written"; exit 1; }
sum(d): ClickHouse 0.05, DataFusion 0.05, DuckDB 0.05, Polars 0.05
sum(d) / 3: ClickHouse 0.01, DataFusion 0.016666, DuckDB 0.016666666666666666, Polars 0.01666667
max(n) / 3: ClickHouse 0, DataFusion -0.003333, DuckDB -0.0033333333333333335, Polars -0.00333333
round(max(d) / 2, 2): ClickHouse 0.01, DataFusion 0.02, DuckDB 0.01, Polars 0.02000000
sum(d) / 3 + sum(d) / 3 + sum(d) / 3: ClickHouse 0.03, DataFusion 0.049998, DuckDB 0.05, Polars 0.05000001
cast(max(big) AS bigint): ClickHouse -9999999, DataFusion -9999999, DuckDB -10000000, Polars -9999999
max(huge) * max(huge): ClickHouse 13471495507399808199638072052441258.3937, DataFusion raises, DuckDB raises, Polars raises
Polars 0.05 / 3: 0.02 pyarrow mean: 0.02
ClickHouse decimal_check_overflow: 1
EXPECTED
echo "as described: one quotient, five answers"
