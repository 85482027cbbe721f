#!/usr/bin/env bash
# A field that first appears in line 200 or 2000 of a file of JSON lines is gone, and a late 1.5 is 1 or 2; nobody says so.
#
# Expected: a reader of JSON lines returns each field of each line, or says that it met a name that it does not know, as DuckDB 2.0.1
#   does. A number with a fraction in a column that had none so far makes it a double, or is an error.
# Seen, of a file whose lines have "id" and "topic", and the last one "error" as well: Polars 2.1.0 (read_ndjson and scan_ndjson)
#   looks at 100 lines, DataFusion 55 at 1000, ClickHouse (chDB 4.4.0) at some 25000. The field behind these has no column: a copy to
#   Parquet ends without an error and with all rows. In a struct that all lines have it is lost the same way. pandas 3.1.1 and pyarrow
#   26 have it. A first 1.5 behind integers is cut to 1 by DataFusion and rounded to 2 by DuckDB (behind 20480 lines); Polars and
#   ClickHouse refuse it.
# Why it matters: fields that are rare are those that tell of errors. An hour in which the first error is line 99 has the column, the
#   next hour has not, and "no errors" is a plausible answer. Nor does a trial with the head of a file show anything. Polars'
#   infer_schema_length=None and DuckDB's sample_size=-1 mend it.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install pandas==3.1.1 polars==2.1.0 pyarrow==26.0.1 duckdb==2.0.1 chdb==4.4.0 \
    datafusion==55.0.0
env/bin/python - > seen 2> log <<'PY' || { cat log; exit 1; }
import json, sys
from pathlib import Path
import chdb, datafusion, duckdb, pandas, polars
import pyarrow.json as arrow_json
import pyarrow.parquet as pq

def by_datafusion():
    context = datafusion.SessionContext()
    context.register_json("lines", "lines.json")
    pq.write_table(context.sql("SELECT * FROM lines").to_arrow_table(), "copy")

COPIES = {
    "Polars": lambda: polars.read_ndjson("lines.json").write_parquet("copy"),
    "Polars scan": lambda: polars.scan_ndjson("lines.json").sink_parquet("copy"),
    "DataFusion": by_datafusion,
    "DuckDB": lambda: duckdb.sql("COPY (FROM 'lines.json') TO 'copy' (FORMAT parquet)"),
    "ClickHouse": lambda: chdb.query("INSERT INTO FUNCTION file('copy', 'Parquet') SELECT * FROM file('lines.json', JSONEachRow)"),
    "pandas": lambda: pandas.read_json("lines.json", lines=True).to_parquet("copy"),
    "pyarrow": lambda: pq.write_table(arrow_json.read_json("lines.json"), "copy"),
}

def copied(copy):
    Path("copy").unlink(missing_ok=True)
    copy()
    return pq.read_table("copy").to_pylist()

def told(usual, last, seen):
    for lines in (200, 2000, 30000):
        with open("lines.json", "w") as file:
            for number in range(lines):
                file.write(json.dumps({"id": number, **usual}) + "\n")
            file.write(json.dumps({"id": lines, **last}) + "\n")
        answers = {}
        for name, copy in COPIES.items():
            try:
                rows = copied(copy)
                answer = seen(rows[-1]) if len(rows) == lines + 1 else "other rows"
            except Exception as error:
                print(name, error, file=sys.stderr)
                answer = "an error"
            answers.setdefault(answer, []).append(name)
        print(f"  behind {lines} lines:", *(f"{answer}: {', '.join(names)};" for answer, names in sorted(answers.items())))

print("a new name")
told({"topic": "orders"}, {"topic": "orders", "error": "TIMED_OUT"}, lambda row: "there" if row.get("error") else "gone")
print("a new name in a struct")
told({"d": {"n": 1}}, {"d": {"n": 1, "error": "TIMED_OUT"}}, lambda row: "there" if row["d"].get("error") else "gone")
print("1.5 behind integers")
told({"ms": 1}, {"ms": 1.5}, lambda row: str(float(row["ms"])))
PY

diff - seen <<'EXPECTED' || { cat log; echo "CHANGED: not what these versions did when this was written"; exit 1; }
a new name
  behind 200 lines: gone: Polars, Polars scan; there: DataFusion, DuckDB, ClickHouse, pandas, pyarrow;
  behind 2000 lines: gone: Polars, Polars scan, DataFusion; there: DuckDB, ClickHouse, pandas, pyarrow;
  behind 30000 lines: an error: DuckDB; gone: Polars, Polars scan, DataFusion, ClickHouse; there: pandas, pyarrow;
a new name in a struct
  behind 200 lines: gone: Polars, Polars scan; there: DataFusion, DuckDB, ClickHouse, pandas, pyarrow;
  behind 2000 lines: gone: Polars, Polars scan, DataFusion; there: DuckDB, ClickHouse, pandas, pyarrow;
  behind 30000 lines: an error: DuckDB; gone: Polars, Polars scan, DataFusion, ClickHouse; there: pandas, pyarrow;
1.5 behind integers
  behind 200 lines: 1.5: DataFusion, DuckDB, ClickHouse, pandas, pyarrow; an error: Polars, Polars scan;
  behind 2000 lines: 1.0: DataFusion; 1.5: DuckDB, ClickHouse, pandas, pyarrow; an error: Polars, Polars scan;
  behind 30000 lines: 1.0: DataFusion; 1.5: pandas, pyarrow; 2.0: DuckDB; an error: Polars, Polars scan, ClickHouse;
EXPECTED
echo "as described: fields that come late are gone"
