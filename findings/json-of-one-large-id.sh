#!/usr/bin/env bash
# One number above int64 in a file of JSON lines changes the ids of all other lines, in three engines of six.
#
# Expected: a column of integers is read exactly, or the line with the number that does not fit is an error. Other lines are what they
#   were.
# Seen, of 9007199254740993 in a file in which one line has 2^63 or more: pyarrow 25 and DataFusion 55 read the column as doubles, so
#   9007199254740993 becomes ...992. DuckDB 2.0.1 does so from 2^64 on (below it has a HUGEINT). daft 0.7.26 makes texts of all from 2^63 on,
#   and fails from 2^64 on, ClickHouse (chDB 4.4.0) makes texts from 2^64 on. Polars 2.1.0 has integers of 128 bits. pandas 3.1.1 reads
#   up to 2^64 - 1 exactly and refuses what is larger. Without that line all of them are exact. None of them warns.
# Why it matters: ids of 64 bits that are hashes are above 2^63 every other time, and a trace or producer id is such a number. In one
#   hour's file the ids join, in the next one two that were neighbours are one; the type tells, where somebody looks.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install -q polars==2.1.0 pyarrow==25.0.1 duckdb==2.0.1 datafusion==55.0.0 chdb==4.4.0 daft==0.7.26 pandas==3.1.1
cat > finding.py <<'PY'
import json

import chdb
import daft
import datafusion
import duckdb
import pandas
import polars
import pyarrow.json


def to_datafusion(name):
    context = datafusion.SessionContext()
    context.register_json("t", name)
    return context.sql("SELECT id FROM t").to_pydict()["id"]


ENGINES = {
    "DuckDB": lambda name: [row[0] for row in duckdb.sql(f"SELECT id FROM read_json('{name}')").fetchall()],
    "DataFusion": to_datafusion,
    "pyarrow": lambda name: pyarrow.json.read_json(name)["id"].to_pylist(),
    "ClickHouse": lambda name: [json.loads(row)[0] for row in str(chdb.query(f"SELECT id FROM file('{name}', JSONEachRow) "
        "SETTINGS output_format_json_quote_64bit_integers=0", "JSONCompactEachRow")).splitlines()],
    "daft": lambda name: daft.read_json(name).to_pydict()["id"],
    "Polars": lambda name: polars.read_ndjson(name)["id"].to_list(),
    "pandas": lambda name: pandas.read_json(name, lines=True)["id"].tolist(),
}
IDS = [9007199254740993, 9007199254740995]
for large in (2**62, 2**63, 2**64):
    print("and", large)
    name = f"{large}.json"
    with open(name, "w") as file:
        file.writelines(json.dumps({"id": number}) + "\n" for number in [*IDS, large])
    for engine, read in ENGINES.items():
        try:
            seen = read(name)[:2]
            print(f"  {engine}:", "exact" if seen == IDS else "as text" if seen == [str(number) for number in IDS] else [int(number) for number in seen])
        except Exception:
            print(f"  {engine}: an error")
PY
env/bin/python finding.py > seen 2> log || { tail -5 log; exit 1; }

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these versions did when this was written"; exit 1; }
and 4611686018427387904
  DuckDB: exact
  DataFusion: exact
  pyarrow: exact
  ClickHouse: exact
  daft: exact
  Polars: exact
  pandas: exact
and 9223372036854775808
  DuckDB: exact
  DataFusion: [9007199254740992, 9007199254740996]
  pyarrow: [9007199254740992, 9007199254740996]
  ClickHouse: exact
  daft: as text
  Polars: exact
  pandas: exact
and 18446744073709551616
  DuckDB: [9007199254740992, 9007199254740996]
  DataFusion: [9007199254740992, 9007199254740996]
  pyarrow: [9007199254740992, 9007199254740996]
  ClickHouse: as text
  daft: an error
  Polars: exact
  pandas: an error
EXPECTED
echo "as described: one large number changes the others"
