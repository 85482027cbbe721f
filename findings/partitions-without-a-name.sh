#!/usr/bin/env bash
# Null in a partition column: who reads it back, who reads a text, who fails; and Polars' own directories, which Arrow cannot
#   read.
#
# Expected: null is written as key=__HIVE_DEFAULT_PARTITION__ and read as null by everyone, as it has been since Hive. A
#   directory that Polars wrote with partition_by is an ordinary dataset.
# Seen: ClickHouse (chDB 4.4.0) and DataFusion 55 return the text __HIVE_DEFAULT_PARTITION__; ClickHouse leaves %2F in keys as
#   well. pandas 3.1.1 (pyarrow 26.0.1) fails: "Cannot yet unify dictionaries with nulls". DuckDB 2.0.1, Polars 2.1.0 and
#   pyarrow return null. Polars keeps the column in the files too, as large_string, beside the string that the directory
#   stands for: pyarrow, pandas and DataFusion refuse the directory, each in other words.
# Why it matters: a Kafka client may have no client id, and a request no topic. GROUP BY then shows a client of that long
#   name, or the report fails on the day on which the first such client appears.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install duckdb==2.0.1 polars==2.1.0 pyarrow==26.0.1 pandas==3.1.1 datafusion==55.0.0 \
    chdb==4.4.0 chdb-core==26.9.0

env/bin/python - > seen <<'PY'
import chdb, datafusion, duckdb, pandas, polars
import pyarrow as pa, pyarrow.dataset as ds

rows = pa.table({"client": pa.array([None, "a/b"], pa.string()), "n": [0, 1]})

def with_duckdb(path):
    query = f"SELECT client FROM read_parquet('{path}/**/*.parquet', hive_partitioning = true) ORDER BY n"
    return [client for (client,) in duckdb.sql(query).fetchall()]

def with_clickhouse(path):
    query = f"SELECT client FROM file('{path}/**/*.parquet') ORDER BY n SETTINGS use_hive_partitioning = 1"
    return chdb.query(query, "TabSeparated").bytes().decode().split()

def with_datafusion(path):
    context = datafusion.SessionContext()
    context.register_parquet("t", path, table_partition_cols=[("client", pa.string())])
    return context.sql("SELECT client, n FROM t ORDER BY n").to_pydict()["client"]

READERS = {
    "DuckDB": with_duckdb,
    "Polars": lambda path: polars.scan_parquet(path).sort("n").collect()["client"].to_list(),
    "pyarrow": lambda path: ds.dataset(path, partitioning="hive").to_table().sort_by("n")["client"].to_pylist(),
    "pandas": lambda path: pandas.read_parquet(path).sort_values("n")["client"].tolist(),
    "ClickHouse": with_clickhouse,
    "DataFusion": with_datafusion,
}
duckdb.sql("COPY rows TO 'by_duckdb' (FORMAT parquet, PARTITION_BY (client))")
polars.from_arrow(rows).write_parquet("by_polars", partition_by="client")
for path in "by_duckdb", "by_polars":
    for reader, read in READERS.items():
        try:
            answer = read(path)
        except Exception as error:
            answer = f"{type(error).__name__}: {error}".split("\n")[0]
        print(f"{path}, {reader}: {answer}")
PY

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these versions did when this was written"; exit 1; }
by_duckdb, DuckDB: [None, 'a/b']
by_duckdb, Polars: [None, 'a/b']
by_duckdb, pyarrow: [None, 'a/b']
by_duckdb, pandas: ArrowInvalid: Cannot yet unify dictionaries with nulls
by_duckdb, ClickHouse: ['__HIVE_DEFAULT_PARTITION__', 'a%2Fb']
by_duckdb, DataFusion: ['__HIVE_DEFAULT_PARTITION__', 'a/b']
by_polars, DuckDB: [None, 'a/b']
by_polars, Polars: [None, 'a/b']
by_polars, pyarrow: ArrowTypeError: Unable to merge: Field client has incompatible types: large_string vs string
by_polars, pandas: ArrowTypeError: Unable to merge: Field client has incompatible types: large_string vs dictionary<values=string, indices=int32, ordered=0>
by_polars, ClickHouse: ['__HIVE_DEFAULT_PARTITION__', 'a%2Fb']
by_polars, DataFusion: ValueError: Schema error: Schema contains duplicate qualified field name t.client
EXPECTED
echo "as described: null in a partition column is read in three ways"
