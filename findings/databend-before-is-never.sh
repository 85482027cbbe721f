#!/usr/bin/env bash
# In a Parquet file with nanoseconds no row lies before a time, to Databend: "ts < noon" finds none, "ts > noon" the right ones.
#
# Expected: a filter of a column of times finds the rows that the column shows, whatever unit the file keeps them in.
# Seen (databend 1.2.453, embedded in Python; ten rows, one a second, in one file each in ms, us and ns): shown, ordered, grouped
#   and with min() and max() the three are alike, as Databend's type has microseconds. But ts < the sixth row's time finds five rows
#   in ms and us and none in ns, ts = that time one and none, ts between the first and the last ten and none. ts > that time finds
#   all four. The file's statistics are taken for microseconds, so that all of it seems to lie in the year 58133 and is not read.
#   With a filter that is computed of each row (to_string(ts) < ...) the five are there. No error.
# Why it matters: nanoseconds are what pandas, Polars and capture tools write by themselves. "The last hour" (>) is right, so a
#   trial with it is; every window with an end, "of yesterday", is empty, which looks like an idle day.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install databend==1.2.453 pyarrow==26.0.1 duckdb==2.0.1
cat > finding.py <<'PY'
import pathlib, duckdb, pyarrow as pa, pyarrow.parquet as pq
from databend import SessionContext

session, start = SessionContext(), 1_772_359_200  # 10:00 of 1 March 2026
for unit, factor in ("ms", 10**3), ("us", 10**6), ("ns", 10**9):
    times = pa.array([(start + second) * factor for second in range(10)], pa.timestamp(unit))
    pq.write_table(pa.table({"ts": times}), unit + ".parquet")
    session.register_parquet(unit, str(pathlib.Path(unit + ".parquet").absolute()))

def databend(sql):
    cells = str(session.sql(sql).collect()).split("\n")[4 if "::" in sql else -2]
    return cells.strip("│").replace("'", "").strip()

moment = "'2026-03-01 10:00:05'"
for condition in (f"ts < {moment}", f"ts = {moment}", f"ts > {moment}", f"ts >= '2026-03-01' AND ts < '2026-03-02'",
        f"to_string(ts) < {moment}"):
    sought = condition.replace("to_string(ts)", "ts::VARCHAR")
    print(condition, *(f"| {unit} {databend(f'SELECT count(*) FROM {unit} WHERE {condition}')}" for unit in ("ms", "us", "ns")),
        f"| DuckDB, ns {duckdb.sql(f'''SELECT count(*) FROM 'ns.parquet' WHERE {sought}''').fetchall()[0][0]}")
print("max(ts) of ns:", databend("SELECT max(ts) FROM ns"))
PY
env/bin/python finding.py > seen 2> log || { cat log; exit 1; }

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these versions did when this was written"; exit 1; }
ts < '2026-03-01 10:00:05' | ms 5 | us 5 | ns 0 | DuckDB, ns 5
ts = '2026-03-01 10:00:05' | ms 1 | us 1 | ns 0 | DuckDB, ns 1
ts > '2026-03-01 10:00:05' | ms 4 | us 4 | ns 4 | DuckDB, ns 4
ts >= '2026-03-01' AND ts < '2026-03-02' | ms 10 | us 10 | ns 0 | DuckDB, ns 10
to_string(ts) < '2026-03-01 10:00:05' | ms 5 | us 5 | ns 5 | DuckDB, ns 5
max(ts) of ns: 2026-03-01 10:00:09.000000
EXPECTED
echo "as described: nothing lies before a time in a file with nanoseconds"
