#!/usr/bin/env bash
# Apache's avro for Python (1.12.2) writes the decimal 1.1 as 0.11 where the schema has two places.
#
# Expected: the schema's scale says how many places are stored: 1.1 is written as 110 and read as 1.10, or refused, as 1.115 is
#   (AvroOutOfScaleException).
# Seen: the digits of the number are written as they are, whatever its exponent: 1.1 comes out as 0.11, 100 as 1.00, and 1E+2,
#   which is the same number, as 0.01; 0.10 is right. It holds for bytes and for fixed. More digits than the precision are
#   written too, and the reader of the same library then rounds to the precision: 1234.5 is 123.4. fastavro 1.13.1 moves the
#   digits to the scale and refuses what is too long; what it reads of the other's bytes shows that the bytes are wrong.
# Why it matters: Decimal(str(price)) has as many places as somebody typed, so prices with two places are right, and 19.9 is
#   1.99. normalize(), sums and JSON bring such numbers about. The records are valid, so nothing between here and the bill
#   complains.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install avro==1.12.2 fastavro==1.13.1
env/bin/python - > seen 2> log <<'PY' || { cat log; exit 1; }
import io, json
from decimal import Decimal
import avro.io, avro.schema, fastavro

def apache(schema, number):
    parsed, written = avro.schema.parse(json.dumps(schema)), io.BytesIO()
    avro.io.DatumWriter(parsed).write(number, avro.io.BinaryEncoder(written))
    written.seek(0)
    read = avro.io.DatumReader(parsed).read(avro.io.BinaryDecoder(written))
    return f"{read} (fastavro reads {other(schema, written)})"

def other(schema, written):
    written.seek(0)
    return fastavro.schemaless_reader(written, schema)

def fast(schema, number):
    written = io.BytesIO()
    fastavro.schemaless_writer(written, schema, number)
    return other(schema, written)

def told(write, schema, number):
    try:
        return write(schema, number)
    except Exception as error:
        return type(error).__name__

logical = {"logicalType": "decimal", "precision": 6, "scale": 2}
short = {"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 2}
for kind in {"type": "bytes"}, {"type": "fixed", "name": "F", "size": 8}:
    for number in "0.10", "1.1", "100", "1E+2", "-19.9", "1.115":
        schema, number = kind | logical, Decimal(number)
        print(kind["type"], number, "avro:", told(apache, schema, number), "fastavro:", told(fast, schema, number))
number = Decimal("1234.5")
print("precision 4:", number, "avro:", told(apache, short, number), "fastavro:", told(fast, short, number))
PY

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these versions did when this was written"; exit 1; }
bytes 0.10 avro: 0.10 (fastavro reads 0.10) fastavro: 0.10
bytes 1.1 avro: 0.11 (fastavro reads 0.11) fastavro: 1.10
bytes 100 avro: 1.00 (fastavro reads 1.00) fastavro: 100.00
bytes 1E+2 avro: 0.01 (fastavro reads 0.01) fastavro: 100.00
bytes -19.9 avro: -1.99 (fastavro reads -1.99) fastavro: -19.90
bytes 1.115 avro: AvroOutOfScaleException fastavro: ValueError
fixed 0.10 avro: 0.10 (fastavro reads 0.10) fastavro: 0.10
fixed 1.1 avro: 0.11 (fastavro reads 0.11) fastavro: 1.10
fixed 100 avro: 1.00 (fastavro reads 1.00) fastavro: 100.00
fixed 1E+2 avro: 0.01 (fastavro reads 0.01) fastavro: 100.00
fixed -19.9 avro: -1.99 (fastavro reads -1.99) fastavro: -19.90
fixed 1.115 avro: AvroOutOfScaleException fastavro: ValueError
precision 4: 1234.5 avro: 123.4 (fastavro reads 123.4) fastavro: ValueError
EXPECTED
echo "as described: decimals of fewer places than the schema's are other numbers"
