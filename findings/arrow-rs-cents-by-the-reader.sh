#!/usr/bin/env bash
# arrow-rs: 12.349 read into a column of cents is 12.34 from CSV and from JSON, and 12.35 when a column of text or doubles is
#   cast.
#
# Expected: a decimal that has more places than its column is rounded in one way, or refused, by the readers and by the cast of
#   one library; DuckDB rounds in both.
# Seen (arro3-io and arro3-compute 0.9.1, which are arrow-rs for Python; beside DuckDB 1.5.0):
#   Its readers of CSV and of JSON cut decimals: 99.999 is 99.99, -0.009 is 0.00. Its cast rounds: 100.00 and -0.01.
#   Its reader of JSON cuts numbers for integer columns too: 1.9 is 1 in an int64, -0.5 is 0 in a uint8, 1.5 is the day after the
#   epoch in a date. From CSV each of these is an error. A text in JSON counts as its number: {"n": "7"} is 7.
#   Nothing says so; DuckDB rounds 12.349 to 12.35 in CSV, in JSON and in a cast.
# Why it matters: rates and prices with many places lose up to a cent each, always towards zero, so sums are too low; the same
#   file read as text first and cast then has other sums.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
command -v python3 >/dev/null || { echo "needs python3"; exit 1; }
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install arro3-core==0.9.1 arro3-io==0.9.1 arro3-compute==0.9.1 pyarrow==26.0.1 duckdb==1.5.0
cat > finding.py <<'PY'
import io

import arro3.compute, arro3.io, duckdb, pyarrow as pa

cents = pa.decimal128(10, 2)


def read(form: str, value: str, kind: pa.DataType) -> str:
    schema = pa.schema([("n", kind)])
    try:
        if form == "csv":
            batches = arro3.io.read_csv(io.BytesIO(f"{value}\n".encode()), schema, has_header=False)
        else:
            batches = arro3.io.read_json(io.BytesIO(f'{{"n": {value}}}\n'.encode()), schema)
        return str(pa.table(batches).to_pylist()[0]["n"])
    except Exception as error:
        return "error" if "pars" in str(error) else f"{error}"


for value in ("12.345", "12.349", "99.999", "-0.009"):
    text, number = (str(pa.array(arro3.compute.cast(pa.array([n]), cents))[0]) for n in (value, float(value)))
    open("n.csv", "w").write(f"n\n{value}\n")
    open("n.json", "w").write(f'{{"n": {value}}}\n')
    duck = [duckdb.sql(f"SELECT n FROM read_{form}('n.{form}', columns = {{n: 'DECIMAL(10, 2)'}})").fetchone()[0] for form in ("csv", "json")]
    print(f"{value}: csv {read('csv', value, cents)}, json {read('json', value, cents)}, cast of text {text}, of a double {number};",
          "DuckDB", *duck, duckdb.sql(f"SELECT '{value}'::DECIMAL(10, 2)").fetchone()[0])
for value, kind in (("1.9", pa.int64()), ("-0.5", pa.uint8()), ("255.9", pa.uint8()), ("1.5", pa.date32()), ('"7"', pa.int64())):
    print(f"{value} as {kind}: json {read('json', value, kind)}, csv {read('csv', value.strip(chr(34)), kind)}")
PY
env/bin/python finding.py > seen

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these versions did when this was written"; exit 1; }
12.345: csv 12.34, json 12.34, cast of text 12.35, of a double 12.35; DuckDB 12.35 12.35 12.35
12.349: csv 12.34, json 12.34, cast of text 12.35, of a double 12.35; DuckDB 12.35 12.35 12.35
99.999: csv 99.99, json 99.99, cast of text 100.00, of a double 100.00; DuckDB 100.00 100.00 100.00
-0.009: csv 0.00, json 0.00, cast of text -0.01, of a double -0.01; DuckDB -0.01 -0.01 -0.01
1.9 as int64: json 1, csv error
-0.5 as uint8: json 0, csv error
255.9 as uint8: json 255, csv error
1.5 as date32[day]: json 1970-01-02, csv error
"7" as int64: json 7, csv 7
EXPECTED
echo "as described: readers cut, casts round"
