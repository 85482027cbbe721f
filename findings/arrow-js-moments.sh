#!/usr/bin/env bash
# Arrow for JavaScript (apache-arrow 21.2.0) reads moments in nanoseconds as milliseconds, and writes other nanoseconds.
#
# Expected: a column of timestamp[ns] gives BigInt, as int64, time and duration columns in nanoseconds do, or a Date.
# Seen: get() and iteration give a Number in milliseconds, whatever the column's unit; toArray() of the same vector gives
#   BigInt in the unit. In milliseconds today's nanoseconds are 244 apart, so two records 100 ns apart are equal, and
#   indexOf() finds the first for the second. On the way in a timestamp[ns] takes milliseconds too: a BigInt of nanoseconds is
#   a TypeError, a whole millisecond is multiplied as a Number and stored 64 ns later, and timestamp[s] refuses every moment
#   that is no whole second (RangeError). A duration is read in its unit, so end minus start is not the duration column.
# Why it matters: a viewer made of Arrow files sorts and joins by get(); the order of a request and its response within a
#   microsecond is lost, though the file and toArray() have it.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for tool in node npm python3; do command -v $tool >/dev/null || { echo "needs $tool"; exit 1; }; done
npm init -y >npm.log && npm install --silent --no-fund apache-arrow@21.2.0 >>npm.log
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install pyarrow==26.0.1
cat > finding.mjs <<'JS'
import { readFileSync, writeFileSync } from "node:fs";
import * as arrow from "apache-arrow";

const table = arrow.tableFromIPC(readFileSync("from-python.arrow"));
for (const name of ["start", "duration", "time"]) {
  const column = table.getChild(name);
  console.log(name, "get:", column.get(0), column.get(1), "toArray:", ...column.toArray());
}
const start = table.getChild("start");
console.log("the second moment is found at", start.indexOf(start.get(1)));

const attempts = { "BigInt in nanoseconds": [1795827358123456789n, new arrow.TimestampNanosecond()] };
attempts["half a second, timestamp[s]"] = [1795827358500, new arrow.TimestampSecond()];
for (const [name, [value, type]] of Object.entries(attempts)) {
  try {
    console.log(name, arrow.vectorFromArray([value], type).get(0));
  } catch (error) {
    console.log(name, error.constructor.name);
  }
}
const written = arrow.vectorFromArray([new Date(1795827358123)], new arrow.TimestampNanosecond());
writeFileSync("from-node.arrow", arrow.tableToIPC(new arrow.Table({ t: written }), "file"));
JS
{
  env/bin/python -c 'import pyarrow as pa
START = 1_795_827_358_123_456_789
table = pa.table({"start": pa.array([START, START + 100], pa.timestamp("ns")), "duration": pa.array([100, 200], pa.duration("ns")),
                  "time": pa.array([100, 200], pa.time64("ns"))})
with pa.ipc.new_file("from-python.arrow", table.schema) as file: file.write(table)'
  node finding.mjs
  env/bin/python -c 'import pyarrow as pa
print("1795827358123 ms as written:", pa.ipc.open_file("from-node.arrow").read_all()["t"].cast(pa.int64()).to_pylist())'
} > seen

diff - seen <<'EXPECTED' || { echo "CHANGED: not what apache-arrow 21.2.0 did when this was written"; exit 1; }
start get: 1795827358123.4568 1795827358123.4568 toArray: 1795827358123456789n 1795827358123456889n
duration get: 100n 200n toArray: 100n 200n
time get: 100n 200n toArray: 100n 200n
the second moment is found at 0
BigInt in nanoseconds TypeError
half a second, timestamp[s] RangeError
1795827358123 ms as written: [1795827358123000064]
EXPECTED
echo "as described: one vector, two units, and other nanoseconds"
