#!/usr/bin/env bash
# pyiceberg 0.12.0: a scan with "k not in (1, 2)" returns rows where k is null; a delete with the same filter keeps them.
#
# Expected: one filter means one set of rows. delete(filter) removes what scan(filter) returns, and overwrite(new, filter) replaces it.
#   "k not in (1, 2)" is "k != 1 and k != 2", and whether nulls belong to it is the same for both.
# Seen: a scan with not in (two values or more) returns the null; with one value, with != and with not (k = 1) it does not. A
#   delete with any of them keeps the null, so that a count before the delete says one row more than go. Read, count and
#   write back (scan, change, overwrite with the same filter) duplicates each row with a null: the old one stays beside the new.
#   The filter of nulls is right in all (is null, is not null). DuckDB's SQL over the same rows leaves the null out.
# Why it matters: partitions, hosts and group names are null in rows that have none. "Everything but these two clusters" is the shape
#   of clean-ups and of re-computed parts, and nothing says that the two halves of such a job mean different rows.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
command -v python3 >/dev/null || { echo "needs python3"; exit 1; }
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install 'pyiceberg[sql-sqlite,pyarrow]==0.12.0' pyarrow==26.0.1 duckdb==2.0.1
env/bin/python -W ignore - > seen 2> log <<'PY' || { tail -3 log; exit 1; }
import os
import duckdb
import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog

catalog = SqlCatalog("finding", uri="sqlite:///catalog.db", warehouse=f"file://{os.getcwd()}")
catalog.create_namespace("lab")
rows = pa.table({"k": pa.array([1, 2, 3, None], pa.int64())})

def table(name):
    made = catalog.create_table(f"lab.{name}", schema=rows.schema)
    made.append(rows)
    return made

def keys(read):
    return sorted(read.to_pydict()["k"], key=str)

for number, test in enumerate(("k not in (1, 2)", "not (k in (1, 2))", "k not in (1)", "k != 1 and k != 2", "not (k = 1)", "k is null")):
    deleted, replaced = table(f"deleted{number}"), table(f"replaced{number}")
    found = deleted.scan(row_filter=test).to_arrow()
    deleted.delete(test)
    replaced.overwrite(replaced.scan(row_filter=test).to_arrow(), overwrite_filter=test)
    sql = [key for (key,) in duckdb.execute(f"SELECT k FROM rows WHERE {test} ORDER BY k").fetchall()]
    print(f"{test}: SQL {sql}, scan {keys(found)}, left by delete {keys(deleted.scan().to_arrow())}, replaced by itself {keys(replaced.scan().to_arrow())}")
PY

diff - seen <<'EXPECTED' || { echo "CHANGED: not what pyiceberg 0.12.0 did when this was written"; exit 1; }
k not in (1, 2): SQL [3], scan [3, None], left by delete [1, 2, None], replaced by itself [1, 2, 3, None, None]
not (k in (1, 2)): SQL [3], scan [3, None], left by delete [1, 2, None], replaced by itself [1, 2, 3, None, None]
k not in (1): SQL [2, 3], scan [2, 3], left by delete [1, None], replaced by itself [1, 2, 3, None]
k != 1 and k != 2: SQL [3], scan [3], left by delete [1, 2, None], replaced by itself [1, 2, 3, None]
not (k = 1): SQL [2, 3], scan [2, 3], left by delete [1, None], replaced by itself [1, 2, 3, None]
k is null: SQL [None], scan [None], left by delete [1, 2, 3], replaced by itself [1, 2, 3, None]
EXPECTED
echo "as described: a scan and a delete of one filter"
