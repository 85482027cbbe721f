#!/usr/bin/env bash
# What pzstd packs is valid zstd, but neither tshark 4.0.17 nor Polars 2.1.0 recognises it.
#
# Expected: pzstd (Debian's zstd package, 1.5.4) writes what every zstd reader reads; tshark reads .pcap.zst, Polars .zst.
# Seen: pzstd begins with a skippable frame (magic 184D2A5x, four bytes with the size of the next frame). Both readers look
#   for 28 B5 2F FD in the first bytes only, though the format lets skippable frames stand anywhere. tshark says that it is no
#   capture, Polars calls the bytes invalid UTF-8. Behind the first frame a skippable one harms neither. zstd -d, DuckDB
#   2.0.1, pyarrow, pandas and ClickHouse read all of them.
# Why it matters: on hosts with many cores pzstd is what packs captures and their exports. Both errors blame the content, and
#   `file` calls it Zstandard data; `zstd -dc F | tshark -r -` reads it.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for tool in pzstd zstd tshark; do
    command -v "$tool" >/dev/null || { echo "needs $tool of Debian 12 (apt-get install zstd tshark)"; exit 1; }
done
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install polars==2.1.0 duckdb==2.0.1

python3 - <<'PY'
import struct

with open("a.pcap", "wb") as file:
    file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
    for second in range(3):
        file.write(struct.pack("<IIII", second, 0, 60, 60) + bytes(60))
with open("rows.jsonl", "w") as file:
    file.writelines(f'{{"n": {n}}}\n' for n in range(3))
with open("skippable", "wb") as file:
    file.write(struct.pack("<II", 0x184D2A50, 4) + b"abcd")
PY
pzstd -q a.pcap -o pzstd.pcap.zst
pzstd -q rows.jsonl -o pzstd.jsonl.zst
zstd -q a.pcap -o plain.pcap.zst
cat plain.pcap.zst skippable > behind.pcap.zst
cat skippable plain.pcap.zst > before.pcap.zst
{
    echo "pzstd begins with $(head -c 4 pzstd.pcap.zst | od -An -tx1), zstd -d gives back $(zstd -dc pzstd.pcap.zst | cmp - a.pcap && echo the capture)"
    for name in plain behind before pzstd; do
        code=0
        tshark -r $name.pcap.zst > packets 2> errors || code=$?
        echo "tshark $name: $(wc -l < packets) packets, code $code$(grep -o ' isn.t a capture file' errors || true)"
    done
    env/bin/python - <<'PY'
import duckdb, polars

print("DuckDB:", duckdb.sql("SELECT count(*) FROM read_json('pzstd.jsonl.zst')").fetchall()[0][0], "rows")
try:
    print("Polars:", polars.read_ndjson("pzstd.jsonl.zst").height, "rows")
except polars.exceptions.ComputeError as error:
    print("Polars:", error)
PY
} > seen

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these versions did when this was written"; exit 1; }
pzstd begins with  50 2a 4d 18, zstd -d gives back the capture
tshark plain: 3 packets, code 0
tshark behind: 3 packets, code 0
tshark before: 0 packets, code 2 isn't a capture file
tshark pzstd: 0 packets, code 2 isn't a capture file
DuckDB: 3 rows
Polars: stream did not contain valid UTF-8 at line 0
EXPECTED
echo "as described: a leading skippable frame hides the capture"
