#!/usr/bin/env bash
# ClickHouse fits a line through a minute of times: of an offset that grows by 100 a second the slope is 22, 49 or no number.
#
# Expected: simpleLinearRegression() of a column of times and one of offsets is the rate, as regr_slope() is, its neighbour since this
#   year. Points on an exact line have a correlation of 1. Its documentation has no word of a limit.
# Seen (chDB 4.4.0, server 26.9; 60 points, one a second of 2026, exactly on the line): with times in nanoseconds the slope is 22.3 a
#   second, in milliseconds 49.1, in seconds NaN; ten minutes are some percent off. corr() is NaN, 0.7 and infinity; its documentation
#   names corrStable(), which is 1. The regression has no stable twin: it adds up the squares of the times, and the digits that tell
#   one second from the next are not in such a sum. stddevPop() of 7000 times within 6 ms is 66 s, of 60 it is 0. regr_slope() of the same server, DuckDB
#   2.0.1, DataFusion 55, Polars 2.1.0 (cov / var) and Python's statistics say 100.
# Why it matters: rates of offsets, lag and bytes are fitted so, window by window, with times as they are in the table. A trial over a
#   day of data, or with times that begin at 0, is right; a fitted rate of a minute is a plausible number that is half of the truth.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install chdb==4.4.0 duckdb==2.0.1 datafusion==55.0.0 polars==2.1.0 pyarrow==26.0.1
env/bin/python - > seen 2> log <<'PY' || { cat log; exit 1; }
import statistics, sys
import chdb, datafusion, duckdb, polars
import pyarrow as pa

START, RATE = 1_795_827_358, 100

def clickhouse(columns, points, unit):
    table = f"(SELECT ({START} + number) * {unit} AS t, 1000 + {RATE} * number AS y FROM numbers({points}))"
    return [float(value) for value in chdb.query(f"SELECT {columns} FROM {table}").data().strip().split(",")]

def others(points, unit):
    rows = pa.table({"t": [(START + n) * unit for n in range(points)], "y": [1000.0 + RATE * n for n in range(points)]})
    context = datafusion.SessionContext()
    context.from_arrow(rows, name="rows")
    yield duckdb.sql("SELECT regr_slope(y, t) FROM rows").fetchall()[0][0]
    yield context.sql("SELECT regr_slope(y, t) AS slope FROM rows").to_pydict()["slope"][0]
    yield polars.from_arrow(rows).select(polars.cov("t", "y") / polars.col("t").var()).item()
    yield statistics.linear_regression(rows["t"].to_pylist(), rows["y"].to_pylist()).slope

def judged(value, truth):
    error = abs(value / truth - 1)  # NaN is in no range
    return "right" if error < 1e-6 else "nearly" if error < 0.1 else "wrong"

for name, unit in {"seconds": 1, "milliseconds": 1000, "nanoseconds": 10**9}.items():
    for points in (60, 600):
        slope, standard, correlation, stable = clickhouse(
            "simpleLinearRegression(t, y).1, regr_slope(y, t), corr(t, y), corrStable(t, y)", points, unit)
        print(f"{points} s in {name}: slope {slope * unit:.3g}, correlation {correlation:.2g}", file=sys.stderr)
        print(f"{points} s in {name}: simpleLinearRegression {judged(slope * unit, RATE)}, regr_slope {judged(standard * unit, RATE)},",
            f"corr {judged(correlation, 1)}, corrStable {judged(stable, 1)},",
            "others", *{judged(other * unit, RATE) for other in others(points, unit)})
print("60 s from 0:", judged(clickhouse(f"simpleLinearRegression(t - {START}, y).1", 60, 1)[0], RATE))
moments = "FROM (SELECT 1795827358123 + number % 7 AS ms FROM numbers(7000))"
wide, narrow = chdb.query(f"SELECT stddevPop(ms), stddevPop(ms - 1795827358123) {moments}").data().strip().split(",")
print(f"deviation of 0 to 6 ms: {judged(float(wide), 2)}, of the same less their beginning: {judged(float(narrow), 2)}")
PY

diff - seen <<'EXPECTED' || { cat log; echo "CHANGED: not what these versions did when this was written"; exit 1; }
60 s in seconds: simpleLinearRegression wrong, regr_slope right, corr wrong, corrStable right, others right
600 s in seconds: simpleLinearRegression nearly, regr_slope right, corr nearly, corrStable right, others right
60 s in milliseconds: simpleLinearRegression wrong, regr_slope right, corr wrong, corrStable right, others right
600 s in milliseconds: simpleLinearRegression nearly, regr_slope right, corr nearly, corrStable right, others right
60 s in nanoseconds: simpleLinearRegression wrong, regr_slope right, corr wrong, corrStable right, others right
600 s in nanoseconds: simpleLinearRegression nearly, regr_slope right, corr nearly, corrStable right, others right
60 s from 0: right
deviation of 0 to 6 ms: wrong, of the same less their beginning: right
EXPECTED
echo "as described: a minute's slope is none"
