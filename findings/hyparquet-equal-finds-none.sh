#!/usr/bin/env bash
# hyparquet 1.33.0: "offset = 3" finds no row where ">= 3 and <= 3" finds it, and a Date without an operator finds all rows.
#
# Expected: parquetQuery() compares a column with a value in one way, whatever the operator, as the databases do whose operators
#   ($gt, $eq, $in) it takes.
# Seen: int64 columns are BigInt. $gt, $gte, $lt and $lte compare those with Numbers by value; $eq, $in and the short form
#   {offset: 3} are strict, so that they find nothing, and $ne and $nin find every row (filterStrict: false mends it). The short
#   form with a Date, {ts: noon}, has no operators in it and finds all rows, as an operator does that it does not know ($ge).
#   Moments in nanoseconds are cut to the millisecond before they are compared: "ts = noon" finds 0.8 ms past noon, and
#   "ts > noon" does not. A moment as text is compared as a Number, which is NaN: no row. No error anywhere.
# Why it matters: a viewer in a browser looks up a record by its offset and says that it is not there, or shows all records for
#   one moment; a bound on both sides of the same number is the only equality that holds.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for tool in node npm python3; do command -v $tool >/dev/null || { echo "needs $tool"; exit 1; }; done
npm init -y >npm.log && npm install --silent --no-fund hyparquet@1.33.0 >>npm.log
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install pyarrow==26.0.1
env/bin/python -c 'import pyarrow as pa, pyarrow.parquet as pq
NOON = 1_800_000_000_000_000_000
moments = pa.array([NOON + n * 400_000 for n in range(6)], pa.timestamp("ns", tz="UTC"))
pq.write_table(pa.table({"offset": pa.array(range(1, 7), pa.int64()), "ts": moments}), "records.parquet")'
cat > finding.mjs <<'JS'
import { asyncBufferFromFile, parquetQuery } from "hyparquet";

const file = await asyncBufferFromFile("records.parquet");
const noon = new Date(1_800_000_000_000);
const filters = {
  "offset >= 3 and <= 3": { offset: { $gte: 3, $lte: 3 } },
  "offset $eq 3": { offset: { $eq: 3 } },
  "offset $eq 3n": { offset: { $eq: 3n } },
  "offset $in 3, 4": { offset: { $in: [3, 4] } },
  "offset $ne 3": { offset: { $ne: 3 } },
  "offset $ge 5": { offset: { $ge: 5 } },
  "ts noon": { ts: noon },
  "ts $eq noon": { ts: { $eq: noon } },
  "ts $gt noon": { ts: { $gt: noon } },
  "ts $gt text": { ts: { $gt: noon.toISOString() } },
};
for (const [name, filter] of Object.entries(filters)) {
  const rows = await parquetQuery({ file, filter });
  console.log(`${name}: ${rows.map((row) => row.offset).join(" ") || "none"}`);
}
const loose = await parquetQuery({ file, filter: { offset: { $eq: 3 } }, filterStrict: false });
console.log("offset $eq 3, not strict:", loose.map((row) => row.offset).join(" "));
JS
node finding.mjs > seen

diff - seen <<'EXPECTED' || { echo "CHANGED: not what hyparquet 1.33.0 did when this was written"; exit 1; }
offset >= 3 and <= 3: 3
offset $eq 3: none
offset $eq 3n: 3
offset $in 3, 4: none
offset $ne 3: 1 2 3 4 5 6
offset $ge 5: 1 2 3 4 5 6
ts noon: 1 2 3 4 5 6
ts $eq noon: 1 2 3
ts $gt noon: 4 5 6
ts $gt text: none
offset $eq 3, not strict: 3
EXPECTED
echo "as described"
