#!/usr/bin/env bash
# Text keys of partition directories come back as numbers, different ones as the same; each engine has its own rule.
#
# Expected: a column that was text when it was written (a connection's hash, a client id, a topic) is text when it is read, or
#   at least different keys stay different. Spark's guide says that types of partition columns are inferred, "numeric" among
#   them.
# Seen: Spark 4.3.0 writes the strings 1d and 1f, and reads both as the double 1.0: Java's suffixes for double and float.
#   Spark and Polars 2.1.0 read 4e2 and 400 as the same number. pyarrow 26 and DuckDB 2.0.1 take 0x1F for 31 (the other two do
#   not), all but DuckDB 007 for 7, Spark and DuckDB " 7" for 7; pyarrow calls a column text if one number exceeds int32, and
#   Polars knows true. One key that fits no pattern makes the whole column text, so tomorrow's partition changes the type of
#   yesterday's.
# Why it matters: partitions by the first digits of a hash are quite usual. A join on such keys loses rows or pairs wrong
#   ones, and nobody is told. Say the types: hive_types / hive_schema / partitioning(schema) /
#   spark.sql.sources.partitionColumnTypeInference.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
command -v java >/dev/null || { echo "needs Java 17"; exit 1; }
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install pyspark==4.3.0 polars==2.1.0 pyarrow==26.0.1 duckdb==2.0.1

cat > read.py <<'PY'
import os, shutil, sys

os.environ |= {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
import duckdb, polars, pyarrow as pa, pyarrow.dataset as ds, pyarrow.parquet as pq
from pyspark.sql import SparkSession

spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()

def keys(name, rows):
    print(f"  {name}:", *(repr(key) for _, key in sorted((n, key) for key, n in rows)))

for texts in ["1d", "1f"], ["4e2", "400"], ["0x1F", "31"], ["007", "8"], [" 7", "7"], ["3000000000", "1"], ["true", "false"]:
    shutil.rmtree("table", ignore_errors=True)
    for n, text in enumerate(texts):
        os.makedirs(f"table/key={text}")
        pq.write_table(pa.table({"n": [n]}), f"table/key={text}/part.parquet")
    print(texts)
    keys("Spark", map(tuple, spark.read.parquet("table").select("key", "n").collect()))
    keys("Polars", polars.scan_parquet("table").select("key", "n").collect().rows())
    found = ds.dataset("table", partitioning="hive").to_table(columns=["key", "n"])
    keys("pyarrow", zip(*(column.to_pylist() for column in found.columns)))
    keys("DuckDB", duckdb.sql("SELECT key, n FROM read_parquet('table/*/*.parquet', hive_partitioning = true)").fetchall())

spark.createDataFrame([("1d", 0), ("1f", 1)], "key string, n int").write.partitionBy("key").parquet("own")
print("Spark's own strings 1d, 1f:", spark.read.parquet("own").groupBy("key").count().collect())
PY
env/bin/python read.py > seen 2> log || { cat log; exit 1; }

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these versions did when this was written"; exit 1; }
['1d', '1f']
  Spark: 1.0 1.0
  Polars: '1d' '1f'
  pyarrow: '1d' '1f'
  DuckDB: '1d' '1f'
['4e2', '400']
  Spark: Decimal('400') Decimal('400')
  Polars: 400.0 400.0
  pyarrow: '4e2' '400'
  DuckDB: '4e2' '400'
['0x1F', '31']
  Spark: '0x1F' '31'
  Polars: '0x1F' '31'
  pyarrow: 31 31
  DuckDB: 31 31
['007', '8']
  Spark: 7 8
  Polars: 7 8
  pyarrow: 7 8
  DuckDB: '007' '8'
[' 7', '7']
  Spark: 7.0 7.0
  Polars: ' 7' '7'
  pyarrow: ' 7' '7'
  DuckDB: 7 7
['3000000000', '1']
  Spark: 3000000000 1
  Polars: 3000000000 1
  pyarrow: '3000000000' '1'
  DuckDB: 3000000000 1
['true', 'false']
  Spark: 'true' 'false'
  Polars: True False
  pyarrow: 'true' 'false'
  DuckDB: 'true' 'false'
Spark's own strings 1d, 1f: [Row(key=1.0, count=2)]
EXPECTED
echo "as described: keys of partitions become numbers, and equal ones at that"
