#!/usr/bin/env bash
# deltalake 1.6.6 keeps statistics of decimals as doubles and int64, so filters miss rows, and its own SQL returns other numbers.
#
# Expected: a decimal's smallest and largest value in the log of a Delta table are bounds, rounded down and up if at all, and a
#   filter with the very number that was written finds its row. What a query returns is what the file has.
# Seen: with decimal places they are the nearest double, so 1234567890123456.78 has the bounds 1234567890123456.8; a decimal(20, 0),
#   which is what engines without unsigned integers make of a uint64, has at most 9223372036854775807. Readers skip the
#   file: x = 1234567890123456.78 has no row in to_pyarrow_table(filters=...), in DuckDB over to_pyarrow_dataset() and in scan_delta
#   of Polars 2.1.0, and delete() with it deletes nothing. The SQL of deltalake (QueryBuilder) takes equal bounds for "one value", and
#   for x > 1 returns 1234567890123456.80 for both rows, which nobody wrote. Without a filter all are right. A file that holds a
#   much smaller and a much larger number too is right as well.
# Why it matters: amounts of 16 digits, hashes and ids of 64 bits are kept as decimals to be exact. The rows are in the file and in
#   every full read; whether a filter finds them is a matter of what else was appended with them.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install -q deltalake==1.6.6 polars==2.1.0 pyarrow==25.0.1 duckdb==2.0.1
cat > finding.py <<'PY'
import json
from decimal import Decimal
from glob import glob

import duckdb
import polars
import pyarrow
from deltalake import DeltaTable, QueryBuilder, write_deltalake

for places, written in (
    (2, ["1234567890123456.78", "1234567890123456.79"]),
    (0, ["10000000000000000001", "10000000000000000003"]),
    (2, ["0.10", "1234567890123456.78", "3000000000000000.00"]),
):
    name = f"table{len(glob('table*'))}"
    numbers = [Decimal(number) for number in written]
    write_deltalake(name, pyarrow.table({"x": pyarrow.array(numbers, pyarrow.decimal128(20, places))}))
    table = DeltaTable(name)
    for line in open(glob(f"{name}/_delta_log/*.json")[0]):
        if "add" in json.loads(line):
            bounds = json.loads(json.loads(line)["add"]["stats"])
            print(*written, "bounds", bounds["minValues"]["x"], bounds["maxValues"]["x"])
    sought = next(number for number in numbers if number > 1)

    def shown(rows):
        return " ".join(str(row) for row in rows) or "none"

    def sql(where):
        rows = pyarrow.table(QueryBuilder().register("t", table).execute(f"SELECT x FROM t {where}").read_all())
        return shown(rows["x"].to_pylist())

    print("  no filter:", sql(""))
    print("  SQL x > 1:", sql("WHERE x > 1"))
    print("  pyarrow  x = sought:", shown(table.to_pyarrow_table(filters=[("x", "=", sought)])["x"].to_pylist()))
    print("  DuckDB   x = sought:", shown(row[0] for row in duckdb.arrow(table.to_pyarrow_dataset()).filter(f"x = {sought}").fetchall()))
    print("  Polars   x = sought:", shown(polars.scan_delta(name).filter(polars.col("x") == sought).collect()["x"]))
    print("  deleted  x = sought:", table.delete(f"x = CAST('{sought}' AS DECIMAL(20, {places}))")["num_deleted_rows"])
PY
env/bin/python finding.py > seen 2> log || { tail -5 log; exit 1; }

diff - seen <<'EXPECTED' || { echo "CHANGED: not what deltalake 1.6.6 did when this was written"; exit 1; }
1234567890123456.78 1234567890123456.79 bounds 1234567890123456.8 1234567890123456.8
  no filter: 1234567890123456.78 1234567890123456.79
  SQL x > 1: 1234567890123456.80 1234567890123456.80
  pyarrow  x = sought: none
  DuckDB   x = sought: none
  Polars   x = sought: none
  deleted  x = sought: 0
10000000000000000001 10000000000000000003 bounds 9223372036854775807 9223372036854775807
  no filter: 10000000000000000001 10000000000000000003
  SQL x > 1: 9223372036854775807 9223372036854775807
  pyarrow  x = sought: none
  DuckDB   x = sought: none
  Polars   x = sought: none
  deleted  x = sought: 0
0.10 1234567890123456.78 3000000000000000.00 bounds 0.1 3000000000000000.0
  no filter: 0.10 1234567890123456.78 3000000000000000.00
  SQL x > 1: 1234567890123456.78 3000000000000000.00
  pyarrow  x = sought: 1234567890123456.78
  DuckDB   x = sought: 1234567890123456.78
  Polars   x = sought: 1234567890123456.78
  deleted  x = sought: 1
EXPECTED
echo "as described: decimals are not found, and others are returned"
