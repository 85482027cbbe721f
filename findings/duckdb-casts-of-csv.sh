#!/usr/bin/env bash
# In DuckDB 2.0.1 CAST(d AS INTEGER) of a CSV column is 3 where it is selected alone and 2 where d is selected as well.
#
# Expected: a column of a CSV file has a type, that which DESCRIBE shows, and CAST converts its values. What else a query selects
#   changes nothing in it, nor does whether the file was read into a table before.
# Seen: where a query selects no more of a column than one cast, the optimizer has the reader parse the file's text as the cast's
#   type, so the column's own type is never there. From the text 2.5 is 3 as an integer, from the DOUBLE that the column is it is 2
#   (half to even); -0.5 is -1 or 0. CAST(t AS TIMESTAMP) of a TIMESTAMPTZ column is 11:00 of 11:00+01, and 10:00 with t beside it.
#   CAST(n AS VARCHAR) is the text of the file (1.00, TRUE) or that of the value (1.0, true). A copy and a table made of such a query
#   have the one, sum() of the cast and the file as a table (CREATE TABLE AS FROM) the other. No error, no warning.
# Why it matters: a column that somebody adds to a query, or takes out of it, changes numbers in another column. A check that prints
#   the original beside the cast shows what is right, and the query without it writes something else; hours move with zones.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install duckdb==2.0.1 pytz
cat > rows.csv <<'CSV'
d,t,n,b
2.5,2026-11-28T10:00:00Z,1.00,TRUE
0.5,2026-11-28 11:00:00+01,1.0,true
-0.5,2026-11-28 10:00:00Z,1,True
CSV
TZ=UTC env/bin/python - > seen 2> log <<'PY' || { cat log; exit 1; }
import duckdb

def told(query):
    return ", ".join(str(row[0]) for row in duckdb.sql(query).fetchall())

print("types:", *(f"{row[0]} {row[1]}" for row in duckdb.sql("DESCRIBE FROM 'rows.csv'").fetchall()))
duckdb.sql("CREATE TABLE rows AS FROM 'rows.csv'")
for column, cast in (("d", "CAST(d AS INTEGER)"), ("t", "CAST(t AS TIMESTAMP)"), ("n", "CAST(n AS VARCHAR)"), ("b", "CAST(b AS VARCHAR)")):
    print(cast)
    print("  alone:", told(f"SELECT {cast} FROM 'rows.csv'"))
    print(f"  with {column} beside it:", told(f"SELECT {cast}, {column} FROM 'rows.csv'"))
    print("  of a table of the file:", told(f"SELECT {cast} FROM rows"))
print("sum(CAST(d AS INTEGER)):", told("SELECT sum(CAST(d AS INTEGER)) FROM 'rows.csv'"))
duckdb.sql("CREATE TABLE made AS SELECT CAST(d AS INTEGER) AS d FROM 'rows.csv'")
print("sum(d) of a table made with the cast:", told("SELECT sum(d) FROM made"))
duckdb.sql("PRAGMA disable_optimizer")
print("CAST(d AS INTEGER) without the optimizer:", told("SELECT CAST(d AS INTEGER) FROM 'rows.csv'"))
PY

diff - seen <<'EXPECTED' || { cat log; echo "CHANGED: not what DuckDB 2.0.1 did when this was written"; exit 1; }
types: d DOUBLE t TIMESTAMP WITH TIME ZONE n DOUBLE b BOOLEAN
CAST(d AS INTEGER)
  alone: 3, 1, -1
  with d beside it: 2, 0, 0
  of a table of the file: 2, 0, 0
CAST(t AS TIMESTAMP)
  alone: 2026-11-28 10:00:00, 2026-11-28 11:00:00, 2026-11-28 10:00:00
  with t beside it: 2026-11-28 10:00:00, 2026-11-28 10:00:00, 2026-11-28 10:00:00
  of a table of the file: 2026-11-28 10:00:00, 2026-11-28 10:00:00, 2026-11-28 10:00:00
CAST(n AS VARCHAR)
  alone: 1.00, 1.0, 1
  with n beside it: 1.0, 1.0, 1.0
  of a table of the file: 1.0, 1.0, 1.0
CAST(b AS VARCHAR)
  alone: TRUE, true, True
  with b beside it: true, true, true
  of a table of the file: true, true, true
sum(CAST(d AS INTEGER)): 2
sum(d) of a table made with the cast: 3
CAST(d AS INTEGER) without the optimizer: 2, 0, 0
EXPECTED
echo "as described: one cast, two answers"
