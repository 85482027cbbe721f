#!/usr/bin/env bash
# @dsnp/parquetjs writes the decimal 0.29 as 0.28 and -1.10 as -1.11, and reads its own small decimals with zeros between them.
#
# Expected: a DECIMAL of two places holds 0.29 exactly, that is what it is for; a JavaScript number goes to the nearest one. What a
#   library writes it reads, and an unsigned column is not negative.
# Seen (@dsnp/parquetjs 1.8.8, files checked by pyarrow 26): value * 100 is rounded down, and 0.29 * 100 is 28.999999999999996: of the
#   amounts 0.00 to 99.99 a cent is lost in 573, and negative ones get further from zero (-1.1 is -1.11). With precision up to 9 the
#   values are written as 64 bits, as the file says, and read as 32: the first half of the rows, each with its upper half (0 or -0.01)
#   behind it. uint32 and uint64 of other writers are read as signed: the largest is -1. No error, no warning.
# Why it matters: 8.20 is 8.19, while 1 and 2.50 of a test are right. Sums are short by some 60 cents in each thousand amounts, which
#   looks like rounding somewhere else; a reader in the same language with precision 9 sees half of the rows' values and zeros, and
#   the same count.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for tool in node npm python3; do command -v $tool >/dev/null || { echo "needs $tool"; exit 1; }; done
npm install --silent @dsnp/parquetjs@1.8.8 >npm.log 2>&1
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install pyarrow==26.0.1
cat > finding.mjs <<'JS'
import parquet from '@dsnp/parquetjs'
async function write (name, precision, amounts) {
  const schema = new parquet.ParquetSchema({ amount: { type: 'DECIMAL', precision, scale: 2 } })
  const writer = await parquet.ParquetWriter.openFile(schema, name)
  for (const amount of amounts) await writer.appendRow({ amount })
  await writer.close()
}
async function read (name) {
  const cursor = (await parquet.ParquetReader.openFile(name)).getCursor()
  const rows = []
  for (let row = await cursor.next(); row; row = await cursor.next()) rows.push(Object.values(row))
  return rows.map(row => row.join(' ')).join(', ')
}
if (process.argv[2] === 'write') {
  const amounts = [0.29, 8.2, -1.1, 19.99, 2.5, 1]
  await write('small', 9, amounts)
  await write('large', 18, amounts)
  await write('cents', 18, Array.from({ length: 10000 }, (_, cents) => cents / 100))
} else for (const name of ['small', 'large', 'unsigned']) console.log(`read by itself, ${name}: ${await read(name)}`)
JS
cat > finding.py <<'PY'
from decimal import Decimal
import pyarrow as pa, pyarrow.parquet as pq

for name in ("small", "large"):
    file = pq.ParquetFile(name)
    column = file.read()["amount"]
    print(f"read by pyarrow, {name}, {column.type}, {file.schema.column(0).physical_type}:", *column.to_pylist())
cents = pq.read_table("cents")["amount"].to_pylist()
wrong = [amount for number, amount in enumerate(cents) if amount != Decimal(number) / 100]
print(f"{len(wrong)} of {len(cents)} amounts are wrong, {Decimal(sum(range(10000))) / 100 - sum(cents)} of {sum(range(10000)) / 100} are missing")
rows = pa.table({"u32": pa.array([2**32 - 1, 1], pa.uint32()), "u64": pa.array([2**64 - 1, 1], pa.uint64())})
pq.write_table(rows, "unsigned", use_dictionary=False, compression="none")
PY
{ node finding.mjs write && env/bin/python finding.py && node finding.mjs read; } > seen 2> log || { tail -n 5 log; exit 1; }

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these versions did when this was written"; exit 1; }
read by pyarrow, small, decimal128(9, 2), INT64: 0.28 8.19 -1.11 19.98 2.50 1.00
read by pyarrow, large, decimal128(18, 2), INT64: 0.28 8.19 -1.11 19.98 2.50 1.00
573 of 10000 amounts are wrong, 5.73 of 499950.0 are missing
read by itself, small: 0.28, 0, 8.19, 0, -1.11, -0.01
read by itself, large: 0.28, 8.19, -1.11, 19.98, 2.5, 1
read by itself, unsigned: -1 -1, 1 1
EXPECTED
echo "as described: a cent less, and zeros"
