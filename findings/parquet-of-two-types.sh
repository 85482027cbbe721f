#!/usr/bin/env bash
# One column, two files, two types: which file comes first decides the values, and nobody is told.
#
# Expected: a glob of Parquet files whose column is a double in one and an integer in the other has a type that holds both, or the read
#   is refused, as Polars 2.1.0 and DataFusion 55 refuse it, and pyarrow 25 where a number would change.
# Seen: DuckDB 2.0.1 casts all files to the type of the first by name: 1.5 is 2 behind a file of integers, 1.2345 is 1.23 behind one of
#   two decimal places, and an integer that does not fit is an error. union_by_name=true finds a type for all.
#   ClickHouse (chDB 4.4.0) takes the type of the file that the directory lists first, and converts without a look: 1.5 is 1, -1 is
#   the largest uint32 or uint64, and the largest is -1. daft 0.7.26 does as ClickHouse with fractions, and makes null of what does not fit.
#   For the latter two the order is that of the file system, so the same files give one answer or another on another host.
# Why it matters: a day whose latencies happen to be whole numbers, a version that counts in unsigned, one more decimal place: each file
#   is right. Totals over the directory are off by roundings or by 2^32, or lack rows, and change when a file is added in front.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install -q polars==2.1.0 pyarrow==25.0.1 duckdb==2.0.1 datafusion==55.0.0 chdb==4.4.0 daft==0.7.26
cat > finding.py <<'PY'
import os
from decimal import Decimal
import chdb
import daft
import datafusion
import duckdb
import polars
import pyarrow
import pyarrow.dataset
import pyarrow.parquet

def to_datafusion(folder):
    context = datafusion.SessionContext()
    context.register_parquet("t", folder + "/")
    return context.sql("SELECT x FROM t").to_pydict()["x"]

ENGINES = {
    "DuckDB": lambda folder: [row[0] for row in duckdb.sql(f"SELECT x FROM '{folder}/*.parquet'").fetchall()],
    "ClickHouse": lambda folder: str(chdb.query(f"SELECT x FROM file('{folder}/*.parquet')", "TabSeparated")).split("\n")[:-1],
    "daft": lambda folder: daft.read_parquet(f"{folder}/*.parquet").to_pydict()["x"],
    "Polars": lambda folder: polars.read_parquet(f"{folder}/*.parquet")["x"].to_list(),
    "DataFusion": to_datafusion,
    "pyarrow": lambda folder: pyarrow.dataset.dataset(folder).to_table()["x"].to_pylist(),
}
CASES = {
    "3 and 1.5": (pyarrow.array([3]), pyarrow.array([1.5])),
    "1.10 and 1.2345": (pyarrow.array([Decimal("1.10")]), pyarrow.array([Decimal("1.2345")])),
    "int32 -1, uint32 4294967295": (pyarrow.array([-1], pyarrow.int32()), pyarrow.array([2**32 - 1], pyarrow.uint32())),
}
for number, (case, arrays) in enumerate(CASES.items()):
    print(case)
    for engine, read in ENGINES.items():
        seen = set()  # over both orders, as some engines have that of the file system
        for first in (0, 1):
            os.makedirs(folder := f"{number}-{first}", exist_ok=True)
            for name, which in (("a", first), ("b", 1 - first)):
                pyarrow.parquet.write_table(pyarrow.table({"x": arrays[which]}), f"{folder}/{name}.parquet")
            try:
                seen.add(", ".join(sorted(str(value) for value in read(folder))))
            except Exception:
                seen.add("an error")
        print(f"  {engine}: " + "; or ".join(sorted(seen)))
PY
env/bin/python finding.py > seen 2> log || { tail -5 log; exit 1; }

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these versions did when this was written"; exit 1; }
3 and 1.5
  DuckDB: 1.5, 3.0; or 2, 3
  ClickHouse: 1, 3; or 1.5, 3
  daft: 1, 3; or 1.5, 3.0
  Polars: an error
  DataFusion: an error
  pyarrow: 1.5, 3.0; or an error
1.10 and 1.2345
  DuckDB: 1.10, 1.23; or 1.1000, 1.2345
  ClickHouse: 1.1, 1.23; or 1.1, 1.2345
  daft: 1.10, 1.23; or 1.1000, 1.2345
  Polars: an error
  DataFusion: an error
  pyarrow: 1.1000, 1.2345; or an error
int32 -1, uint32 4294967295
  DuckDB: an error
  ClickHouse: -1, -1; or 4294967295, 4294967295
  daft: -1, None; or 4294967295, None
  Polars: an error
  DataFusion: an error
  pyarrow: an error
EXPECTED
echo "as described: the first file decides what the others say"
