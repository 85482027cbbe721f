#!/usr/bin/env bash
# deltalake's update() stores another moment than it is given: off by the hours of the machine's zone, and one in ten a microsecond early.
#
# Expected: a datetime without a zone goes into a timestamp_ntz column as it is, as write_deltalake() and merge() put it there; they take
#   it as UTC where the column has a zone. The column has microseconds, as the datetime has.
# Seen (deltalake 1.6.6, on a host in New York): update(new_values={"t": datetime(2026, 11, 28, 10)}) stores 15:00, in a column with a
#   zone and in one without; predicate="t = ..." of the value that was just written finds no row. In Tokyo it is 01:00, in UTC 10:00. Of
#   50 moments with the zone UTC five are stored a microsecond early, anywhere: they go through a float. The same by updates={"t":
#   "TIMESTAMP '...'"}, by write and by merge is right. No error, no warning.
# Why it matters: closing a row ("valid until") and marking it as seen is what update() is for. In a container, which has UTC, all is
#   right but the last digit; from a laptop the rows are closed hours from where they were, and joins by equal times lose a tenth.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install deltalake==1.6.6 pyarrow==26.0.1
cat > finding.py <<'PY'
import datetime as dt, tempfile
import pyarrow as pa
from deltalake import DeltaTable, write_deltalake

WHEN = dt.datetime(2026, 11, 28, 10)

def table_of(when, rows=1):
    folder = tempfile.mkdtemp(dir=".")
    columns = {"id": range(rows), "t": pa.array([when] * rows, pa.timestamp("us")), "z": pa.array([when] * rows, pa.timestamp("us", "UTC"))}
    write_deltalake(folder, pa.table(columns))
    return DeltaTable(folder)

def shown(table):
    return ", ".join(f"{name} {value:%H:%M}" for name, value in table.to_pyarrow_table().to_pylist()[0].items() if name != "id")

print("  write:", shown(table_of(WHEN)))
table = table_of(dt.datetime(2000, 1, 1))
source = pa.table({"id": [0], "t": pa.array([WHEN], pa.timestamp("us")), "z": pa.array([WHEN], pa.timestamp("us", "UTC"))})
table.merge(source, "s.id = t.id", source_alias="s", target_alias="t").when_matched_update_all().execute()
print("  merge:", shown(table))
table = table_of(dt.datetime(2000, 1, 1))
table.update(new_values={"t": WHEN, "z": WHEN})
found = table.update(predicate=f"t = '{WHEN}'", updates={"id": "1"})["num_updated_rows"]
print("  update:", shown(table), "- rows found by that time:", found)
table.update(updates={"t": f"TIMESTAMP '{WHEN}'", "z": f"TIMESTAMP '{WHEN}'"})
print("  update in SQL:", shown(table))

moments = [dt.datetime(2026, 11, 28, 10, 0, 0, 7919 * n % 1_000_000, dt.timezone.utc) for n in range(50)]
early = 0
table = table_of(WHEN)
for moment in moments:
    table.update(new_values={"z": moment})
    early += moment - table.to_pyarrow_table()["z"][0].as_py() == dt.timedelta(microseconds=1)
print("  of 50 moments in UTC a microsecond early:", early)
PY
for zone in UTC America/New_York Asia/Tokyo; do
    echo "$zone"
    TZ=$zone env/bin/python finding.py
done > seen 2> log || { cat log; exit 1; }

diff - seen <<'EXPECTED' || { echo "CHANGED: not what deltalake 1.6.6 did when this was written"; exit 1; }
UTC
  write: t 10:00, z 10:00
  merge: t 10:00, z 10:00
  update: t 10:00, z 10:00 - rows found by that time: 1
  update in SQL: t 10:00, z 10:00
  of 50 moments in UTC a microsecond early: 5
America/New_York
  write: t 10:00, z 10:00
  merge: t 10:00, z 10:00
  update: t 15:00, z 15:00 - rows found by that time: 0
  update in SQL: t 10:00, z 10:00
  of 50 moments in UTC a microsecond early: 5
Asia/Tokyo
  write: t 10:00, z 10:00
  merge: t 10:00, z 10:00
  update: t 01:00, z 01:00 - rows found by that time: 0
  update in SQL: t 10:00, z 10:00
  of 50 moments in UTC a microsecond early: 5
EXPECTED
echo "as described: update() shifts moments"
