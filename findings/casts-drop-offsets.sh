#!/usr/bin/env bash
# CAST('2026-11-28T10:00:00+05:00' AS TIMESTAMP) is 10:00 in DuckDB and in the SQL of Polars, 05:00 in DataFusion and ClickHouse.
#
# Expected: a text with an offset names one moment. A type without a zone holds it in UTC, as it does where a text ends in Z, or the
#   cast is an error, as pyarrow 26 and Polars' own cast() have it. All functions of one library that read a text agree.
# Seen: DuckDB 2.0.1 drops the offset, or the name of a zone, and keeps the digits, in CAST, TRY_CAST, TIMESTAMP '...' and read_csv()
#   with the type TIMESTAMP; without a type the same file is read as TIMESTAMPTZ, five hours earlier. The SQL of Polars 2.1.0 drops
#   it, str.to_datetime() of Polars heeds it. DataFusion 55 and ClickHouse (chDB 4.4.0) heed it, DataFusion the name of a zone too.
#   Texts that end in Z are the same everywhere. No error, no warning.
# Why it matters: logs and JSON of several sites have offsets, and the moments of one column are then hours apart from each other, or
#   not, by the function. A type that somebody names, to be safe, moves a column by its offset; with logs in UTC, and tests in UTC,
#   all is right.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install polars==2.1.0 pyarrow==26.0.1 duckdb==2.0.1 chdb==4.4.0 datafusion==55.0.0 pytz
TZ=UTC env/bin/python - > seen 2> log <<'PY' || { cat log; exit 1; }
import chdb, datafusion, duckdb, polars
import pyarrow as pa

context = datafusion.SessionContext()

def by_duckdb(words):
    return lambda text: duckdb.sql(f"SELECT CAST({words.format(text)} AS VARCHAR)").fetchall()[0][0]

def by_file(options):
    def read(text):
        with open("rows.csv", "w") as file:
            file.write(f"t,n\n{text},1\n")
        return duckdb.sql(f"SELECT t FROM read_csv('rows.csv'{options})").fetchall()[0][0]
    return read

READERS = {
    "DuckDB CAST": by_duckdb("CAST('{}' AS TIMESTAMP)"),
    "DuckDB literal": by_duckdb("TIMESTAMP '{}'"),
    "DuckDB read_csv as TIMESTAMP": by_file(", types={'t': 'TIMESTAMP'}"),
    "DuckDB read_csv": by_file(""),
    "Polars SQL": lambda text: polars.sql(f"SELECT CAST('{text}' AS TIMESTAMP) AS t", eager=True)["t"][0],
    "Polars to_datetime": lambda text: polars.Series([text]).str.to_datetime()[0],
    "Polars cast": lambda text: polars.Series([text]).cast(polars.Datetime)[0],
    "DataFusion CAST": lambda text: context.sql(f"SELECT CAST('{text}' AS TIMESTAMP) AS t").to_pydict()["t"][0],
    "ClickHouse CAST": lambda text: chdb.query(f"SELECT CAST('{text}' AS DateTime64(3, 'UTC'))").data().strip().strip('"'),
    "pyarrow cast": lambda text: pa.array([text]).cast(pa.timestamp("ms"))[0],
}
for text in ("2026-11-28T10:00:00Z", "2026-11-28T10:00:00+05:00", "2026-11-28 10:00:00 Europe/Berlin"):
    answers = {}
    for name, reader in READERS.items():
        try:
            answer = str(reader(text))[11:19]
        except Exception:
            answer = "an error"
        answers.setdefault(answer, []).append(name)
    print(text)
    for answer, names in answers.items():
        print(f"  {answer}: {', '.join(names)}")
PY

diff - seen <<'EXPECTED' || { cat log; echo "CHANGED: not what these versions did when this was written"; exit 1; }
2026-11-28T10:00:00Z
  10:00:00: DuckDB CAST, DuckDB literal, DuckDB read_csv as TIMESTAMP, DuckDB read_csv, Polars SQL, Polars to_datetime, DataFusion CAST, ClickHouse CAST
  an error: Polars cast, pyarrow cast
2026-11-28T10:00:00+05:00
  10:00:00: DuckDB CAST, DuckDB literal, DuckDB read_csv as TIMESTAMP, Polars SQL
  05:00:00: DuckDB read_csv, Polars to_datetime, DataFusion CAST, ClickHouse CAST
  an error: Polars cast, pyarrow cast
2026-11-28 10:00:00 Europe/Berlin
  10:00:00: DuckDB CAST, DuckDB literal, DuckDB read_csv as TIMESTAMP
  09:00:00: DuckDB read_csv, DataFusion CAST
  an error: Polars SQL, Polars to_datetime, Polars cast, ClickHouse CAST, pyarrow cast
EXPECTED
echo "as described: an offset is dropped, or not"
