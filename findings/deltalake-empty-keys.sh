#!/usr/bin/env bash
# An empty text in a partition column of deltalake 1.6.6 is null or "" by the function, and null to all for good behind compact().
#
# Expected: a table partitioned by client returns what was written, as directories of DuckDB and pyarrow do with "" beside null; all
#   functions of one library agree; compact() changes files, not rows.
# Seen, of the clients "", "app" and null: the log of Delta has no way to tell "" from null (its protocol reads "" as null), and the
#   writer puts "" into it. to_pyarrow_table(), to_pandas() and filters by pyarrow see null twice; filters=[("client", "=", "")] has
#   no row. The SQL of the same library (QueryBuilder), delete() and Polars 2.1.0 see one "" and one null: delete("client IS NULL")
#   leaves a row that is null in the next read. compact() joins the files of both and writes null: from then on SQL and Polars have
#   lost the "" as well. As a plain column, not a partition, all is right. No error, no warning.
# Why it matters: "" is what Kafka's clients without an id, keys and groups are called, and a partition is the first thing to filter
#   by. A count of them is 1, 2 or 0, and housekeeping, which may run at any time, changes which.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install deltalake==1.6.6 polars==2.1.0 pyarrow==26.0.1 pandas==3.1.1
env/bin/python - > seen 2> log <<'PY' || { cat log; exit 1; }
import polars
import pyarrow as pa, pyarrow.compute as pc
from deltalake import DeltaTable, QueryBuilder, write_deltalake

COUNT = "SELECT count(*) AS n FROM t WHERE client "

def told(when):
    table = DeltaTable("table")
    sql = lambda words: pa.table(QueryBuilder().register("t", table).execute(COUNT + words)).to_pylist()[0]["n"]
    read = table.to_pyarrow_table()["client"].to_pylist()
    scan = polars.scan_delta("table")
    print(when)
    print("  to_pyarrow_table: empty", read.count(""), "null", read.count(None))
    print("  filters of it: empty", table.to_pyarrow_table(filters=[("client", "=", "")]).num_rows)
    print("  QueryBuilder: empty", sql("= ''"), "null", sql("IS NULL"))
    print("  Polars: empty", scan.filter(polars.col("client") == "").collect().height, "null", scan.filter(polars.col("client").is_null()).collect().height)

rows = pa.table({"client": ["", "app", None], "n": [1, 2, 3]})
write_deltalake("table", rows)
told("no partitions")
write_deltalake("table", rows, partition_by=["client"], mode="overwrite", schema_mode="overwrite")
told("partitions")
print("delete of null removes", DeltaTable("table").delete("client IS NULL")["num_deleted_rows"])
told("behind it")
write_deltalake("table", rows.slice(0, 1), mode="append")
told("one more empty")
DeltaTable("table").optimize.compact()
told("behind compact()")
PY

diff - seen <<'EXPECTED' || { cat log; echo "CHANGED: not what these versions did when this was written"; exit 1; }
no partitions
  to_pyarrow_table: empty 1 null 1
  filters of it: empty 1
  QueryBuilder: empty 1 null 1
  Polars: empty 1 null 1
partitions
  to_pyarrow_table: empty 0 null 2
  filters of it: empty 0
  QueryBuilder: empty 1 null 1
  Polars: empty 1 null 1
delete of null removes 1
behind it
  to_pyarrow_table: empty 0 null 1
  filters of it: empty 0
  QueryBuilder: empty 1 null 0
  Polars: empty 1 null 0
one more empty
  to_pyarrow_table: empty 0 null 2
  filters of it: empty 0
  QueryBuilder: empty 2 null 0
  Polars: empty 2 null 0
behind compact()
  to_pyarrow_table: empty 0 null 2
  filters of it: empty 0
  QueryBuilder: empty 0 null 2
  Polars: empty 0 null 2
EXPECTED
echo "as described: an empty key is null, or will be"
