#!/usr/bin/env bash
# The format of Python's strptime reads 10:00:00.5 half a second wrong in DataFusion, daft and Polars: %f is 5 ns there.
#
# Expected: %f is a fraction of a second, as in Python, pandas, DuckDB and ClickHouse: behind the point .5, .500 and .500000 are the same.
#   A format that is accepted, and that reads nine digits right, reads fewer digits right as well.
# Seen: DataFusion 55 (to_timestamp), daft 0.7.26 (to_datetime) and Polars 2.1.0 (str.to_datetime) take the digits behind "." for a
#   whole number of nanoseconds: .5 is 5 ns, .123 is 123 ns and .123456 is 123 us. Cut to microseconds, as daft and Polars do it by
#   themselves, fractions of three digits are gone altogether. Nine digits are right. "%S%.f", the point behind the percent sign, is
#   what they want; the others refuse that. Polars prints a warning for ".%f", DataFusion and daft do not.
# Why it matters: logs have three or six digits, and their format string is taken over from the script that read them before. All events
#   of a second then lie at its beginning: latencies are whole seconds or nothing, an order within a second is lost, and seconds,
#   counts and days are right.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install pandas==3.1.1 polars==2.1.0 duckdb==2.0.1 chdb==4.4.0 datafusion==55.0.0 daft==0.7.26
env/bin/python -W ignore - > seen 2> log <<'PY' || { cat log; exit 1; }
from datetime import datetime
import chdb, daft, datafusion, duckdb, pandas, polars

FORMAT = "%Y-%m-%d %H:%M:%S.%f"

def nanoseconds(text):
    """What each engine has behind the full second, in nanoseconds."""
    yield "Python", datetime.strptime(text[:26], FORMAT).microsecond * 1000
    moment = pandas.to_datetime([text], format=FORMAT)[0]
    yield "pandas", moment.microsecond * 1000 + moment.nanosecond
    yield "DuckDB", duckdb.sql(f"SELECT epoch_ns(strptime('{text[:26]}', '{FORMAT}')) % 1000000000").fetchall()[0][0]
    clickhouse = FORMAT.replace("%M:%S", "%i:%s")  # as MySQL names them
    yield "ClickHouse", int(chdb.query(f"SELECT toUnixTimestamp64Nano(parseDateTime64('{text[:26]}', '{clickhouse}')) % 1000000000").data())
    query = f"SELECT arrow_cast(to_timestamp('{text}', '{FORMAT}'), 'Int64') % 1000000000 AS n"
    yield "DataFusion", datafusion.SessionContext().sql(query).to_pydict()["n"][0]
    frame = daft.from_pydict({"text": [text]}).select(daft.col("text").to_datetime(FORMAT))
    yield "daft", frame.to_pydict()["text"][0].microsecond * 1000
    yield "Polars", polars.Series([text]).str.to_datetime(FORMAT, time_unit="ns").dt.nanosecond()[0]
    yield "Polars, its own unit", polars.Series([text]).str.to_datetime(FORMAT).dt.nanosecond()[0]

for digits in ("5", "123", "123456", "123456000"):
    answers = {}
    for engine, found in nanoseconds("2026-11-28 10:00:00." + digits):
        answers.setdefault(found, []).append(engine)
    for found, engines in sorted(answers.items(), reverse=True):
        print(f".{digits} is {found} ns: {', '.join(engines)}")
PY

diff - seen <<'EXPECTED' || { cat log; echo "CHANGED: not what these versions did when this was written"; exit 1; }
.5 is 500000000 ns: Python, pandas, DuckDB, ClickHouse
.5 is 5 ns: DataFusion, Polars
.5 is 0 ns: daft, Polars, its own unit
.123 is 123000000 ns: Python, pandas, DuckDB, ClickHouse
.123 is 123 ns: DataFusion, Polars
.123 is 0 ns: daft, Polars, its own unit
.123456 is 123456000 ns: Python, pandas, DuckDB, ClickHouse
.123456 is 123456 ns: DataFusion, Polars
.123456 is 123000 ns: daft, Polars, its own unit
.123456000 is 123456000 ns: Python, pandas, DuckDB, ClickHouse, DataFusion, daft, Polars, Polars, its own unit
EXPECTED
echo "as described: .5 is five nanoseconds"
