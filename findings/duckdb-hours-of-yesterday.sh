#!/usr/bin/env bash
# In DuckDB 2.0.1 the last 500 ns of each second, hour and year belong to the next one for date_trunc() and year(), not for hour().
#
# Expected: date_trunc() cuts: the second, day or year of 2026-12-31 23:59:59.9999999 is that in which it lies, and the parts of one
#   moment fit together. A text of it, cut to the second, is 23:59:59. So it is in ClickHouse (chDB 4.4.0), DataFusion 55, Polars
#   2.1.0 and pandas 3.1.1.
# Seen: a TIMESTAMP_NS is made a TIMESTAMP for most functions, and is rounded to the nearest microsecond on the way. date_trunc(),
#   time_bucket(), year(), month, dayname(), last_day(), date_diff() and casts to DATE and TIME see 2027-01-01 00:00:00; hour(),
#   minute(), second(), epoch_us() and strftime() see the 31st: year(t) is 2027, hour(t) is 23, strftime(t, '%Y') is 2026. Compared as
#   it is the moment is earlier than 2027.
# Why it matters: captures and traces have nanoseconds. A bucket "of that second" holds rows of the second before, year and hour of
#   one row contradict each other, and a directory by date has rows that a filter by time does not expect there. Seconds have one such
#   row in two million, so sums by two ways differ by a few.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install pandas==3.1.1 polars==2.1.0 pyarrow==26.0.1 duckdb==2.0.1 chdb==4.4.0 \
    datafusion==55.0.0
env/bin/python - > seen 2> log <<'PY' || { cat log; exit 1; }
import chdb, datafusion, duckdb, pandas, polars
import pyarrow as pa, pyarrow.parquet as pq

MOMENT = "2026-12-31 23:59:59.9999999"
pq.write_table(pa.table({"t": pandas.Series([pandas.Timestamp(MOMENT)])}), "rows.parquet")
print("the file has", pq.read_table("rows.parquet")["t"].type, pq.read_table("rows.parquet")["t"][0])
for words in ("t", "strftime(t, '%Y-%m-%d %H:%M:%S')", "date_trunc('second', t)", "date_trunc('day', t)", "time_bucket(INTERVAL '1 hour', t)",
              "t::DATE", "t::TIME", "year(t)", "dayname(t)", "last_day(t)", "hour(t)", "second(t)", "epoch_us(t)",
              "date_diff('year', t, TIMESTAMP '2026-06-01')", "t < TIMESTAMP '2027-01-01'"):
    print("DuckDB", words, "|", duckdb.sql(f"SELECT CAST({words} AS VARCHAR) FROM 'rows.parquet'").fetchall()[0][0])
print("ClickHouse", chdb.query("SELECT toYear(t), toHour(t), toDate(t), date_trunc('second', t) FROM file('rows.parquet')", "CSV").data().strip())
context = datafusion.SessionContext()
context.register_parquet("rows", "rows.parquet")
query = "SELECT date_part('year', t) y, date_part('hour', t) h, CAST(t AS DATE) d, date_trunc('second', t) s FROM rows"
print("DataFusion", *(str(column[0]) for column in context.sql(query).to_pydict().values()))
t = polars.read_parquet("rows.parquet")["t"]
print("Polars", t.dt.year()[0], t.dt.hour()[0], t.dt.date()[0], t.dt.truncate("1s")[0])
t = pandas.read_parquet("rows.parquet")["t"][0]
print("pandas", t.year, t.hour, t.date(), t.floor("s"))
PY

diff - seen <<'EXPECTED' || { cat log; echo "CHANGED: not what these versions did when this was written"; exit 1; }
the file has timestamp[ns] 2026-12-31 23:59:59.999999900
DuckDB t | 2026-12-31 23:59:59.9999999
DuckDB strftime(t, '%Y-%m-%d %H:%M:%S') | 2026-12-31 23:59:59
DuckDB date_trunc('second', t) | 2027-01-01 00:00:00
DuckDB date_trunc('day', t) | 2027-01-01 00:00:00
DuckDB time_bucket(INTERVAL '1 hour', t) | 2027-01-01 00:00:00
DuckDB t::DATE | 2027-01-01
DuckDB t::TIME | 00:00:00
DuckDB year(t) | 2027
DuckDB dayname(t) | Friday
DuckDB last_day(t) | 2027-01-31
DuckDB hour(t) | 23
DuckDB second(t) | 59
DuckDB epoch_us(t) | 1798761599999999
DuckDB date_diff('year', t, TIMESTAMP '2026-06-01') | -1
DuckDB t < TIMESTAMP '2027-01-01' | true
ClickHouse 2026,23,"2026-12-31","2026-12-31 23:59:59"
DataFusion 2026 23 2026-12-31 2026-12-31 23:59:59
Polars 2026 23 2026-12-31 2026-12-31 23:59:59
pandas 2026 23 2026-12-31 2026-12-31 23:59:59
EXPECTED
echo "as described: year 2027, hour 23"
