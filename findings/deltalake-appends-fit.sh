#!/usr/bin/env bash
# deltalake 1.6.6 makes what is appended fit the table: 5.7 is 5, "no" is false, 0.5 is true; no error, no warning.
#
# Expected: a table enforces its schema: another type raises SchemaMismatchError, as another number of columns and other decimals
#   do, or widens the column with schema_mode="merge". pyiceberg 0.12.0 refuses each of these appends (ValueError).
# Seen: every append is cast to the table's types. Doubles lose their fraction in int64, also inside lists and structs, and with
#   schema_mode="merge" too, which does not widen. Texts become numbers, moments or booleans ("no" is false, "nope" an error),
#   any number but 0 is true, 2^53 + 1 loses its last digit in a double, and 1e300 in a float32 is infinity. Only what an
#   integer cannot hold is an error. A new table has microseconds where nanoseconds were given: two records 200 ns apart are
#   equal, and one nanosecond before 1970 is 1970.
# Why it matters: the first file decides: a day whose latencies are whole numbers makes the column int64, and the fractions of
#   all later days are gone. A changed producer is not noticed, which is what the schema was for.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install deltalake==1.6.6 pyarrow==26.0.1 'pyiceberg[sql-sqlite]==0.12.0'
env/bin/python - > seen 2> log <<'PY' || { cat log; exit 1; }
import contextlib, os, sys
import pyarrow as pa
from deltalake import DeltaTable, write_deltalake
from pyiceberg.catalog.sql import SqlCatalog

catalog = SqlCatalog("c", uri="sqlite:///:memory:", warehouse=f"file://{os.getcwd()}/iceberg")
catalog.create_namespace("n")

def delta(name, first, then, **options):
    write_deltalake(name, first)
    write_deltalake(name, then, mode="append", **options)
    return sorted(DeltaTable(name).to_pyarrow_table()["x"].to_pylist()[: len(then)], key=str)

def iceberg(name, first, then):
    table = catalog.create_table(f"n.{name}", schema=first.schema)
    table.append(first)
    with contextlib.redirect_stdout(sys.stderr):  # it draws the difference
        table.append(then)
    return table.scan().to_arrow()["x"].to_pylist()

def told(write, *tables, **options):
    try:
        return write(f"t{len(os.listdir())}", *tables, **options)
    except Exception as error:
        return type(error).__name__

def append(first, then, **options):
    tables = pa.table({"x": first}), pa.table({"x": then})
    print(first.type, "takes", then.type, then.to_pylist(), "as", told(delta, *tables, **options), *options.values(), end="; ")
    print("Iceberg:", told(iceberg, *tables))

whole = pa.array([0])
append(whole, pa.array([5.7, -5.7]))
append(whole, pa.array([5.7]), schema_mode="merge")
append(pa.array([[0]]), pa.array([[5.7]]))
append(whole, pa.array(["7"]))
append(whole, pa.array(["7.9"]))
append(pa.array([True]), pa.array(["no"]))
append(pa.array([True]), pa.array(["nope"]))
append(pa.array([True]), pa.array([0.5]))
append(pa.array([0.5]), pa.array([2**53 + 1]))
append(pa.array([0.5], pa.float32()), pa.array([1e300]))
append(pa.array([0], pa.int8()), pa.array([300]))
moments = pa.array([1_795_827_358_123_456_789, 1_795_827_358_123_456_589, -1], pa.timestamp("ns", "UTC"))
write_deltalake("moments", pa.table({"x": moments}))
column = DeltaTable("moments").to_pyarrow_table()["x"]
print("nanoseconds are", column.type, column.cast(pa.int64()).to_pylist())
PY

diff - seen <<'EXPECTED' || { cat log; echo "CHANGED: not what these versions did when this was written"; exit 1; }
int64 takes double [5.7, -5.7] as [-5, 5]; Iceberg: ValueError
int64 takes double [5.7] as [5] merge; Iceberg: ValueError
list<item: int64> takes list<item: double> [[5.7]] as [[5]]; Iceberg: ValueError
int64 takes string ['7'] as [7]; Iceberg: ValueError
int64 takes string ['7.9'] as Exception; Iceberg: ValueError
bool takes string ['no'] as [False]; Iceberg: ValueError
bool takes string ['nope'] as Exception; Iceberg: ValueError
bool takes double [0.5] as [True]; Iceberg: ValueError
double takes int64 [9007199254740993] as [9007199254740992.0]; Iceberg: ValueError
float takes double [1e+300] as [inf]; Iceberg: ValueError
int8 takes int64 [300] as Exception; Iceberg: ValueError
nanoseconds are timestamp[us, tz=UTC] [1795827358123456, 1795827358123456, 0]
EXPECTED
echo "as described: other values than were appended"
