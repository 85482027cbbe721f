#!/usr/bin/env bash
# pyorc writes 40000 into a smallint and reads it back; to everybody else it is -25536, which is neither above nor below 0.
#
# Expected: a number that its column's type cannot hold is refused, as 2^63 is for a bigint and as pyarrow does, or wraps at once,
#   so that a look at the file shows it. A moment is stored as it is.
# Seen (pyorc 0.12.0): a smallint takes 40000 and 100000, an int 3000000000 and 2^33, and pyorc returns just these. Arrow (pyarrow
#   26.0.1) and ClickHouse (chDB 4.4.0) read -25536, -31072, -1294967296 and 0 from the same file: no reader is wrong, the type has
#   no such number. The file's statistics have the numbers as they were given, so ClickHouse leaves the file out for p < 0, and
#   finds no row in it for p > 0: two ports that are neither. A tinyint wraps when it is written, 300 is 44. 1969-12-31 23:59:59.5
#   is half a second after midnight to all three, pyorc itself among them.
# Why it matters: ports, sizes and counters get the type that the first day's numbers fit. A test that writes and reads with one
#   library passes; the table that reads the files has negative ports, or 0 bytes.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install pyorc==0.12.0 pyarrow==26.0.1 chdb==4.4.0
cat > finding.py <<'PY'
import datetime
import chdb, pyorc
from pyarrow import orc

late = datetime.datetime(1969, 12, 31, 23, 59, 59, 500000, datetime.timezone.utc)
def write(name, schema, values):
    with open(name, "wb") as file, pyorc.Writer(file, f"struct<p:{schema}>") as writer:
        writer.writerows([(value,) for value in values])

def show(values):
    return " ".join(value.strftime("%F_%T.%f") if hasattr(value, "strftime") else str(value) for value in values)

for schema, values in (("smallint", (40000, 100000)), ("int", (3_000_000_000, 2**33)), ("tinyint", (300,)), ("timestamp", (late,))):
    name = schema + ".orc"
    write(name, schema, values)
    with open(name, "rb") as file:
        own = [row[0] for row in pyorc.Reader(file)]
    house = str(chdb.query(f"SELECT p FROM file('{name}')", "CSV")).replace('"', "").split("\n")[:-1]
    print(f"{schema}: written {show(values)} | pyorc {show(own)} | Arrow {show(orc.read_table(name)['p'].to_pylist())} | ClickHouse", *house)
for condition in "p > 0", "p < 0", "p > 32767":
    print(f"ClickHouse, smallint, rows with {condition}:", str(chdb.query(f"SELECT count() FROM file('smallint.orc') WHERE {condition}", "CSV")).strip())
try:
    write("bigint.orc", "bigint", (2**63,))
except TypeError as error:
    print("bigint, 2^63: TypeError")
PY
TZ=UTC env/bin/python finding.py > seen 2> log || { cat log; exit 1; }

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these versions did when this was written"; exit 1; }
smallint: written 40000 100000 | pyorc 40000 100000 | Arrow -25536 -31072 | ClickHouse -25536 -31072
int: written 3000000000 8589934592 | pyorc 3000000000 8589934592 | Arrow -1294967296 0 | ClickHouse -1294967296 0
tinyint: written 300 | pyorc 44 | Arrow 44 | ClickHouse 44
timestamp: written 1969-12-31_23:59:59.500000 | pyorc 1970-01-01_00:00:00.500000 | Arrow 1970-01-01_00:00:00.500000 | ClickHouse 1970-01-01 00:00:00.500000000
ClickHouse, smallint, rows with p > 0: 0
ClickHouse, smallint, rows with p < 0: 0
ClickHouse, smallint, rows with p > 32767: 0
bigint, 2^63: TypeError
EXPECTED
echo "as described: pyorc reads what its file does not hold"
