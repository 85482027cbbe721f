#!/usr/bin/env bash
# ClickHouse writes the port 40000 to ORC as -25536, a day of 2060 as one of 1880, and 3000000000 to Avro as a negative number.
#
# Expected: ORC and Avro have no unsigned types, so a UInt16 becomes an int, a UInt32 a long, and where nothing holds the value there is an
#   error. Date is a date in both. INTO OUTFILE of the same query says the same in each format.
# Seen (chDB 4.4.0, server 26.9, files read by pyarrow 26 and fastavro 1.13.1): ORC gets the signed type of the same width: a UInt8 of 200 is
#   -56, a UInt16 of 40000 is -25536. A Date goes the same way, so days from 18 September 2059 on are in the 1880s and later. Both have
#   an int of 32 bits for UInt32 and IPv4: 3 billion is -1294967296, and 200.1.2.3 is negative. So it is with DateTime in Avro, where
#   2040 is a plain number of seconds, of 1903. A UInt64 hash is negative in both. Parquet is right. No error, no warning.
# Why it matters: ephemeral ports on Linux are 32768 to 60999, all of them in the wrong half, next to 9092, which is right. Small
#   tables, and sums that stay below, are right too; the reader's "port > 1024" leaves every client out.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
command -v python3 >/dev/null || { echo "needs python3"; exit 1; }
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install chdb==4.4.0 pyarrow==26.0.1 fastavro==1.13.1
env/bin/python -W ignore - > seen 2> log <<'PY' || { tail -3 log; exit 1; }
import chdb
import fastavro
import pyarrow.orc
import pyarrow.parquet

ROW = """SELECT toUInt8(200) AS small, toUInt16(9092) AS broker, toUInt16(40000) AS client, toUInt32(3000000000) AS bytes,
    toUInt64(18446744073709551615) AS hash, toIPv4('200.1.2.3') AS address, toDate('2060-01-01') AS day,
    toDateTime('2040-01-01 00:00:00', 'UTC') AS expires"""


def told(name, row):
    print(f"{name}: " + ", ".join(f"{key} {value}" for key, value in row.items()))


for kind in "Parquet", "ORC", "Avro":
    chdb.query(f"{ROW} INTO OUTFILE 'row.{kind}' FORMAT {kind} SETTINGS output_format_avro_codec = 'deflate'")
told("Parquet", pyarrow.parquet.read_table("row.Parquet").to_pylist()[0])
told("ORC", pyarrow.orc.read_table("row.ORC").to_pylist()[0])
with open("row.Avro", "rb") as file:
    told("Avro", next(fastavro.reader(file)))
PY

diff - seen <<'EXPECTED' || { cat log; echo "CHANGED: not what chDB 4.4.0 did when this was written"; exit 1; }
Parquet: small 200, broker 9092, client 40000, bytes 3000000000, hash 18446744073709551615, address 3355509251, day 2060-01-01, expires 2040-01-01 00:00:00+00:00
ORC: small -56, broker 9092, client -25536, bytes -1294967296, hash -1, address -939458045, day 1880-07-27, expires 2040-01-01 00:00:00
Avro: small 200, broker 9092, client 40000, bytes -1294967296, hash -1, address -939458045, day 2060-01-01, expires -2085978496
EXPECTED
echo "as described: large unsigned numbers are negative in ORC and Avro"
