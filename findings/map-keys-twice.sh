#!/usr/bin/env bash
# A Parquet map that has one key twice: engines give the first value, Polars the last, and its copy has that one only.
#
# Expected: what is stored is a list of pairs (pyarrow writes it and finds it valid), so a copy has both. Asked for the key, engines
#   agree on one of the values, or say that there are two, and the length fits the keys.
# Seen: of k=first, k=last DuckDB 2.0.1, DataFusion 55, ClickHouse (chDB 4.4.0) and daft 0.7.26 return "first", and the first three
#   count two entries. Polars 2.1.0 reads its own type Map: get("k") is "last", its length 1, and write_parquet writes one entry.
#   pyarrow 25 has a word for each (map_lookup), and as dictionaries (maps_as_pydicts="lossy") the last. Only the latter warns.
# Why it matters: headers of Kafka records and attributes of traces are kept as maps, and names repeat in them by design: each retry
#   adds one, each hop its own. The first says where a record came from, the last where it was last; two engines over one table
#   tell the two, and a table that went through Polars has forgotten the first.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install -q polars==2.1.0 pyarrow==25.0.1 duckdb==2.0.1 datafusion==55.0.0 chdb==4.4.0 daft==0.7.26
cat > finding.py <<'PY'
import warnings

import chdb
import daft
import datafusion
import duckdb
import polars
import pyarrow
import pyarrow.compute
import pyarrow.parquet

pairs = pyarrow.array([[("k", "first"), ("k", "last")]], pyarrow.map_(pyarrow.string(), pyarrow.string()))
pairs.validate(full=True)
pyarrow.parquet.write_table(pyarrow.table({"h": pairs}), "map.parquet")

print("DuckDB", duckdb.sql("SELECT h['k'], cardinality(h) FROM 'map.parquet'").fetchall()[0])
context = datafusion.SessionContext()
context.register_parquet("t", "map.parquet")
print("DataFusion", [column[0] for column in context.sql("SELECT h['k'], cardinality(h) FROM t").to_pydict().values()])
print("ClickHouse", str(chdb.query("SELECT h['k'], length(h) FROM file('map.parquet')")).strip())
print("daft", daft.read_parquet("map.parquet").select(daft.col("h").map_get("k").alias("v")).to_pydict()["v"])
read = polars.read_parquet("map.parquet")
print("Polars", read.schema["h"], read.select(polars.col("h").map.get("k"), polars.col("h").map.len().alias("n")).row(0))
read.write_parquet("copy.parquet")
print("copy by Polars", pyarrow.parquet.read_table("copy.parquet")["h"].to_pylist()[0])
for which in ("first", "last", "all"):
    print("pyarrow,", which, pyarrow.compute.map_lookup(pairs, pyarrow.scalar("k"), which).to_pylist()[0])
with warnings.catch_warnings(record=True) as warned:
    warnings.simplefilter("always")
    print("pyarrow, dictionaries", pairs.to_pylist(maps_as_pydicts="lossy")[0], len(warned), "warning")
PY
env/bin/python finding.py > seen 2> log || { tail -5 log; exit 1; }

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these versions did when this was written"; exit 1; }
DuckDB ('first', 2)
DataFusion ['first', 2]
ClickHouse "first",2
daft ['first']
Polars Map(String, String) ('last', 1)
copy by Polars [('k', 'last')]
pyarrow, first first
pyarrow, last last
pyarrow, all ['first', 'last']
pyarrow, dictionaries {'k': 'last'} 1 warning
EXPECTED
echo "as described: of two equal keys the first or the last"
