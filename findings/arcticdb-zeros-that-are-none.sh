#!/usr/bin/env bash
# ArcticDB shows 0 where a column did not exist yet: a filter for 0 finds none of these rows, 0 + 1 is 0.
#
# Expected: a symbol with a dynamic schema takes rows with fewer columns. What is missing is null or a default, and a query has the
#   values that read() shows.
# Seen (arcticdb 6.28.2; two rows with errors 5 and 6, then two appended without the column "errors"): read() gives int64 with 5, 6,
#   0, 0, and False for booleans, as the frame has no null; floats are NaN, texts None. For QueryBuilder there is nothing at all:
#   errors == 0 finds no row, errors < 5 none, and errors >= 0 two of four.
#   apply("more", errors + 1) shows 6, 7, 0, 0.
#   resample() has a count of 2 and a mean of 5.5, where pandas on what was read has 4 and 2.75.
#   In a symbol where the zeros were written the same queries find them.
# Why it matters: a column is added in March. Who reads January sees no errors; who filters for hours without an error finds
#   none of January, and a mean over both months is that of March.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install arcticdb==6.28.2 pandas==2.3.3
cat > finding.py <<'PY'
import arcticdb, pandas
from arcticdb import LibraryOptions, QueryBuilder

library = arcticdb.Arctic("lmdb://store?map_size=100MB").create_library("l", LibraryOptions(dynamic_schema=True))
times = pandas.date_range("2026-01-01", periods=4, freq="1s")
known = pandas.DataFrame({"id": [1, 2], "errors": [5, 6], "late": [True, False]}, index=times[:2])
library.write("absent", known)
library.append("absent", pandas.DataFrame({"id": [3, 4]}, index=times[2:]))
library.write("written", known)
library.append("written", pandas.DataFrame({"id": [3, 4], "errors": [0, 0], "late": [False, False]}, index=times[2:]))

def query(symbol, change):
    return library.read(symbol, query_builder=change(QueryBuilder())).data

for symbol in "absent", "written":
    seen = library.read(symbol).data
    print(f"{symbol}: read() errors {seen.errors.to_list()} {seen.errors.dtype}, late {seen.late.to_list()}, mean {seen.errors.mean()}")
    for name, change in {"errors == 0": lambda q: q[q["errors"] == 0], "errors < 5": lambda q: q[q["errors"] < 5],
                         "errors >= 0": lambda q: q[q["errors"] >= 0], "late == False": lambda q: q[q["late"] == False]}.items():
        print(f"  {name}: rows {query(symbol, change).id.to_list()}")
    print("  errors + 1:", query(symbol, lambda q: q.apply("more", q["errors"] + 1)).more.to_list())
    row = query(symbol, lambda q: q.resample("1min").agg({"mean": ("errors", "mean"), "count": ("errors", "count"), "min": ("errors", "min")}))
    print("  resample():", {name: float(row[name].iloc[0]) for name in sorted(row.columns)})
PY
env/bin/python finding.py > seen 2> log || { cat log; exit 1; }

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these versions did when this was written"; exit 1; }
absent: read() errors [5, 6, 0, 0] int64, late [True, False, False, False], mean 2.75
  errors == 0: rows []
  errors < 5: rows []
  errors >= 0: rows [1, 2]
  late == False: rows [2]
  errors + 1: [6, 7, 0, 0]
  resample(): {'count': 2.0, 'mean': 5.5, 'min': 5.0}
written: read() errors [5, 6, 0, 0] int64, late [True, False, False, False], mean 2.75
  errors == 0: rows [3, 4]
  errors < 5: rows [3, 4]
  errors >= 0: rows [1, 2, 3, 4]
  late == False: rows [2, 3, 4]
  errors + 1: [6, 7, 1, 1]
  resample(): {'count': 4.0, 'mean': 2.75, 'min': 0.0}
EXPECTED
echo "as described: zeros that are shown are not there"
