#!/usr/bin/env bash
# In Lance (pylance 14.0.2) t = the very nanosecond finds no row, and t > it finds earlier rows; delete() goes by it.
#
# Expected: a filter of a column in nanoseconds compares nanoseconds, as the same words do in DuckDB 2.0.1 and DataFusion 55, or a
#   text with nine digits is refused.
# Seen: TIMESTAMP '...' of a filter is cut to microseconds, whatever the column's unit. t = TIMESTAMP '... 10:00:00.000000900' has no
#   row, t > it has the rows at 100, 200 and 900 ns, and t <= it has none of them. count_rows(), delete() and update() use the same
#   words: a delete of all that is later than 900 ns deletes the three as well. timestamp(9) '...' and to_timestamp('...') compare
#   nanoseconds. No error, no warning.
# Why it matters: "what came after this row", with its time as the mark, is how tables are read on and cut. Rows of the mark's
#   microsecond are read twice, or deleted; with columns in microseconds all is right, and so is the mark on a whole microsecond.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install pylance==14.0.2 pyarrow==26.0.1 duckdb==2.0.1 datafusion==55.0.0
env/bin/python - > seen 2> log <<'PY' || { cat log; exit 1; }
import datafusion, duckdb, lance
import pyarrow as pa

SECOND, MARK = 1795860000, "'2026-11-28 10:00:00.000000900'"
NANOSECONDS = [100, 200, 900, 1100, 1900]
rows = pa.table({"ns": NANOSECONDS, "t": pa.array([SECOND * 10**9 + n for n in NANOSECONDS], pa.timestamp("ns"))})
dataset = lance.write_dataset(rows, "rows.lance")
context = datafusion.SessionContext()
context.from_arrow(rows, name="rows")
print("stored", dataset.schema.field("t").type, dataset.to_table()["ns"].to_pylist())
for sign in ("=", ">", "<="):
    words = f"t {sign} TIMESTAMP {MARK}"
    print("Lance", words, dataset.to_table(filter=words)["ns"].to_pylist(), "count", dataset.count_rows(words))
    print("  DuckDB", [row[0] for row in duckdb.sql(f"SELECT ns FROM rows WHERE t {sign} TIMESTAMP_NS {MARK}").fetchall()])
    print("  DataFusion", context.sql(f"SELECT ns FROM rows WHERE {words}").to_pydict().get("ns", []))
    for other in (f"timestamp(9) {MARK}", f"to_timestamp({MARK})"):
        print("  Lance", other, dataset.to_table(filter=f"t {sign} {other}")["ns"].to_pylist())
dataset.delete(f"t > TIMESTAMP {MARK}")
print("left by a delete of t >", dataset.to_table()["ns"].to_pylist())
PY

diff - seen <<'EXPECTED' || { cat log; echo "CHANGED: not what these versions did when this was written"; exit 1; }
stored timestamp[ns] [100, 200, 900, 1100, 1900]
Lance t = TIMESTAMP '2026-11-28 10:00:00.000000900' [] count 0
  DuckDB [900]
  DataFusion [900]
  Lance timestamp(9) '2026-11-28 10:00:00.000000900' [900]
  Lance to_timestamp('2026-11-28 10:00:00.000000900') [900]
Lance t > TIMESTAMP '2026-11-28 10:00:00.000000900' [100, 200, 900, 1100, 1900] count 5
  DuckDB [1100, 1900]
  DataFusion [1100, 1900]
  Lance timestamp(9) '2026-11-28 10:00:00.000000900' [1100, 1900]
  Lance to_timestamp('2026-11-28 10:00:00.000000900') [1100, 1900]
Lance t <= TIMESTAMP '2026-11-28 10:00:00.000000900' [] count 0
  DuckDB [100, 200, 900]
  DataFusion [100, 200, 900]
  Lance timestamp(9) '2026-11-28 10:00:00.000000900' [100, 200, 900]
  Lance to_timestamp('2026-11-28 10:00:00.000000900') [100, 200, 900]
left by a delete of t > []
EXPECTED
echo "as described: filters without the last three digits"
