#!/usr/bin/env bash
# INTERVAL 1.5 HOUR is one hour to DuckDB and ClickHouse and an hour and a half to DataFusion; half an hour is nothing.
#
# Expected: an interval has the length that is written, or what the engine cannot hold is an error. INTERVAL 0.5 SECOND, INTERVAL 0.5
#   HOUR and INTERVAL '0.5 hours' go by one rule.
# Seen: DuckDB 2.0.1 cuts the number to a whole one (1.9 HOUR is one hour, 0.5 DAY is nothing), also where it is a column, but keeps
#   the fraction of SECOND and MILLISECOND, that of a text ('1.5 hours') and that of a product (INTERVAL 1 HOUR * 1.5). ClickHouse
#   (chDB 4.4.0) cuts all of them, seconds and texts too: toIntervalSecond(0.5) is nothing. DataFusion 55 keeps all, and Polars 2.1.0
#   refuses all but whole ones in SQL. No error and no warning.
# Why it matters: "t > now() - INTERVAL 1.5 HOUR" is a query of the last hour, with INTERVAL 0.5 HOUR it has no rows, and a timeout or
#   a window of 0.5 s is 0 in one of two engines. The text with "30 minutes" is right everywhere.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install duckdb==2.0.1 chdb==4.4.0 datafusion==55.0.0 polars==2.1.0
env/bin/python - > seen 2> log <<'PY' || { cat log; exit 1; }
from datetime import datetime, timedelta
import chdb, datafusion, duckdb, polars

NOON, context = datetime(2026, 11, 28, 12), datafusion.SessionContext()

def by_clickhouse(interval):
    return datetime.fromisoformat(chdb.query(f"SELECT toDateTime64('{NOON}', 3, 'UTC') + {interval}").data().strip().strip('"'))

ENGINES = {
    "DuckDB": lambda interval: duckdb.sql(f"SELECT TIMESTAMP '{NOON}' + {interval}").fetchall()[0][0],
    "ClickHouse": by_clickhouse,
    "DataFusion": lambda interval: context.sql(f"SELECT TIMESTAMP '{NOON}' + {interval} AS t").to_pydict()["t"][0],
    "Polars": lambda interval: polars.sql(f"SELECT CAST('{NOON}' AS TIMESTAMP) + {interval} AS t", eager=True)["t"][0],
}
for interval in ("INTERVAL '90 minutes'", "INTERVAL 1.5 HOUR", "INTERVAL '1.5 hours'", "INTERVAL 1 HOUR * 1.5", "INTERVAL 1.9 HOUR",
                 "INTERVAL 0.5 HOUR", "INTERVAL 0.5 DAY", "INTERVAL 2.5 MINUTE", "INTERVAL 0.5 SECOND", "INTERVAL '0.5 seconds'"):
    answers = {}
    for name, engine in ENGINES.items():
        try:
            answer = str(timedelta(seconds=(engine(interval) - NOON).total_seconds()))
        except Exception:
            answer = "an error"
        answers.setdefault(answer, []).append(name)
    print(interval, *(f"| {answer}: {', '.join(names)}" for answer, names in answers.items()))
print("columns of 0.5 and 1.5 hours in DuckDB:",
      *(row[0] for row in duckdb.sql("SELECT INTERVAL (h) HOUR FROM (VALUES (0.5), (1.5)) t(h)").fetchall()))
rows = chdb.query("SELECT toSecond(toDateTime64('1970-01-01', 3, 'UTC') + toIntervalSecond(arrayJoin([0.5, 1.5])))").data().split()
print("columns of 0.5 and 1.5 seconds in ClickHouse:", *rows)
PY

diff - seen <<'EXPECTED' || { cat log; echo "CHANGED: not what these versions did when this was written"; exit 1; }
INTERVAL '90 minutes' | 1:30:00: DuckDB, ClickHouse, DataFusion, Polars
INTERVAL 1.5 HOUR | 1:00:00: DuckDB, ClickHouse | 1:30:00: DataFusion | an error: Polars
INTERVAL '1.5 hours' | 1:30:00: DuckDB, DataFusion | 1:00:00: ClickHouse | an error: Polars
INTERVAL 1 HOUR * 1.5 | 1:30:00: DuckDB | an error: ClickHouse, DataFusion, Polars
INTERVAL 1.9 HOUR | 1:00:00: DuckDB, ClickHouse | 1:54:00: DataFusion | an error: Polars
INTERVAL 0.5 HOUR | 0:00:00: DuckDB, ClickHouse | 0:30:00: DataFusion | an error: Polars
INTERVAL 0.5 DAY | 0:00:00: DuckDB, ClickHouse | 12:00:00: DataFusion | an error: Polars
INTERVAL 2.5 MINUTE | 0:02:00: DuckDB, ClickHouse | 0:02:30: DataFusion | an error: Polars
INTERVAL 0.5 SECOND | 0:00:00.500000: DuckDB, DataFusion | 0:00:00: ClickHouse | an error: Polars
INTERVAL '0.5 seconds' | 0:00:00.500000: DuckDB, DataFusion | 0:00:00: ClickHouse | an error: Polars
columns of 0.5 and 1.5 hours in DuckDB: 0:00:00 1:00:00
columns of 0.5 and 1.5 seconds in ClickHouse: 0 1
EXPECTED
echo "as described: an interval loses its fraction, or not"
