#!/usr/bin/env bash
# INTERVAL '1.5 hours' is five hours in Daft's SQL, '0.25 days' are 25 days, and '0.5 seconds' five seconds.
#
# Expected: an interval has the length that is written, or is refused, as Daft refuses INTERVAL '1.5' HOUR ("invalid digit").
# Seen (daft 0.7.26, beside DuckDB 2.0.1): of a number with a fraction the digits behind the point are taken for the number, and
#   what is in front of it is dropped: 1.5 hours are 5 hours, 1.05 and 7.5 as well; 0.25 days are 25 days, 2.0 minutes are nothing.
#   Whole numbers, several units ('1 hour 30 minutes') and a minus are right. No error, no warning.
# Why it matters: "ts > now - INTERVAL '1.5 hours'" is a query of five hours, a timeout of '0.5 seconds' is ten times as long, and
#   "2.0 minutes", which a program made of a number, is none. Each length is plausible.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install daft==0.7.26 duckdb==2.0.1
cat > finding.py <<'PY'
import datetime as dt

import daft
import duckdb

moment = dt.datetime(2026, 1, 31)
t = daft.from_pydict({"t": [moment]})
for words in "'90 minutes'", "'1 hour 30 minutes'", "'1.5 hours'", "'1.05 hours'", "'0.5 seconds'", "'0.25 days'", "'2.0 minutes'", "'1.5' HOUR":
    try:
        told = moment - daft.sql(f"SELECT t - INTERVAL {words} AS r FROM t", t=t).to_pydict()["r"][0]
    except Exception:
        told = "error"
    print(f"INTERVAL {words}: daft {told}, DuckDB {moment - duckdb.execute(f'SELECT ?::TIMESTAMP - INTERVAL {words}', [moment]).fetchone()[0]}")
PY
env/bin/python finding.py > seen 2> log || { cat log; exit 1; }

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these versions did when this was written"; exit 1; }
INTERVAL '90 minutes': daft 1:30:00, DuckDB 1:30:00
INTERVAL '1 hour 30 minutes': daft 1:30:00, DuckDB 1:30:00
INTERVAL '1.5 hours': daft 5:00:00, DuckDB 1:30:00
INTERVAL '1.05 hours': daft 5:00:00, DuckDB 1:03:00
INTERVAL '0.5 seconds': daft 0:00:05, DuckDB 0:00:00.500000
INTERVAL '0.25 days': daft 25 days, 0:00:00, DuckDB 6:00:00
INTERVAL '2.0 minutes': daft 0:00:00, DuckDB 0:02:00
INTERVAL '1.5' HOUR: daft error, DuckDB 1:00:00
EXPECTED
echo "as described: a quarter of a day is 25 days"
