#!/usr/bin/env bash
# Buckets of seven minutes begin at other times in each engine, and in pandas at other times once an earlier day is there.
#
# Expected: buckets of one length begin at multiples of it since 1970, so all engines put a row into the same one, and so do
#   resample() and floor() of one library.
# Seen: Polars 2.1.0, DataFusion 55, pyarrow 26 and floor() of pandas 3.1.1 do so. time_bucket of DuckDB 2.0.1 counts from
#   January 2000, ClickHouse (chDB 4.4.0) counts hours anew each day, and pandas' resample() counts from midnight before the first
#   row: with one row of the day before, the row at 01:00 is in another bucket than without it. Lengths that divide a day, as 90
#   minutes do, give one grid everywhere; 7 minutes, seconds, hours or days do not.
# Why it matters: rates per bucket of one engine are laid beside another's, or this week's file beside last week's. Sums are
#   equal, so only a peak that lies in one bucket here and is cut in two there shows it. origin="epoch" mends resample().
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install pandas==3.1.1 polars==2.1.0 pyarrow==26.0.1 duckdb==2.0.1 chdb==4.4.0 \
    datafusion==55.0.0
env/bin/python - > seen 2> log <<'PY' || { cat log; exit 1; }
from datetime import datetime, timedelta
import chdb, datafusion, duckdb, pandas, polars
import pyarrow as pa, pyarrow.compute as pc

ROW, FORMAT = datetime(2026, 11, 28, 1), "%d %H:%M:%S"
context = datafusion.SessionContext()

def resampled(length, *others, **options):
    rows = pandas.Series(1, pandas.to_datetime([*others, ROW])).resample(length.replace("m", "min"), **options).sum()
    return rows[rows > 0].index[-1]

def dynamic(length):
    return polars.DataFrame({"t": [ROW]}).group_by_dynamic("t", every=length).agg(polars.len())["t"][0]

def told(length, words):
    amount, unit = words.split()
    number, unit = int(amount), unit.rstrip("s")
    clickhouse = f"SELECT toString(toStartOfInterval(toDateTime('{ROW}', 'UTC'), INTERVAL {number} {unit}))"
    bins = context.sql(f"SELECT date_bin(INTERVAL '{words}', TIMESTAMP '{ROW}') AS t").to_pydict()["t"][0]
    found = {
        "Polars": dynamic(length),
        "DataFusion": bins,
        "pyarrow": pc.floor_temporal(pa.scalar(ROW), number, unit).as_py(),
        "ClickHouse": datetime.fromisoformat(chdb.query(clickhouse).data().strip().strip('"')),
        "DuckDB": duckdb.sql(f"SELECT time_bucket(INTERVAL '{words}', TIMESTAMP '{ROW}')").fetchall()[0][0],
        "pandas floor": pandas.Timestamp(ROW).floor(length.replace("m", "min")),
        "resample": resampled(length),
        "resample(origin=epoch)": resampled(length, origin="epoch"),
        "resample with the day before": resampled(length, ROW - timedelta(days=1)),
    }
    print(words)
    for moment in sorted(set(found.values())):
        print("  from", moment.strftime(FORMAT), ", ".join(name for name, begin in found.items() if begin == moment))

for length, words in {"7m": "7 minutes", "7s": "7 seconds", "7h": "7 hours", "7d": "7 days", "90m": "90 minutes"}.items():
    told(length, words)
PY

diff - seen <<'EXPECTED' || { cat log; echo "CHANGED: not what these versions did when this was written"; exit 1; }
7 minutes
  from 28 00:56:00 resample
  from 28 00:58:00 resample with the day before
  from 28 00:59:00 DuckDB
  from 28 01:00:00 Polars, DataFusion, pyarrow, ClickHouse, pandas floor, resample(origin=epoch)
7 seconds
  from 28 00:59:56 DuckDB
  from 28 00:59:58 resample
  from 28 00:59:59 resample with the day before
  from 28 01:00:00 Polars, DataFusion, pyarrow, ClickHouse, pandas floor, resample(origin=epoch)
7 hours
  from 27 21:00:00 resample with the day before
  from 27 23:00:00 DuckDB
  from 28 00:00:00 ClickHouse, resample
  from 28 01:00:00 Polars, DataFusion, pyarrow, pandas floor, resample(origin=epoch)
7 days
  from 23 00:00:00 DuckDB
  from 26 00:00:00 Polars, DataFusion, pyarrow, ClickHouse, pandas floor, resample(origin=epoch)
  from 27 00:00:00 resample with the day before
  from 28 00:00:00 resample
90 minutes
  from 28 00:00:00 Polars, DataFusion, pyarrow, ClickHouse, DuckDB, pandas floor, resample, resample(origin=epoch), resample with the day before
EXPECTED
echo "as described: buckets of one length, several grids"
