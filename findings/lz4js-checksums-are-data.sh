#!/usr/bin/env bash
# lz4js reads an LZ4 frame with block checksums as other bytes, mostly as many as there should be, and does not notice damage.
#
# Expected: a frame's head says which checksums it has; a reader of frames checks them or passes over them, and what it does not know
#   is an error.
# Seen (lz4js 0.2.0 for JavaScript, the package for LZ4 that runs in a browser; frames of Python's lz4 4.4.5):
#   With block checksums (lz4 -BX) not one line of 20000 is right. With the content's size in the head the number of bytes is, or it
#     is 191 too small where blocks refer to the one before; without the size 23 bytes become 28.
#   A frame with a content checksum and one byte of it changed is returned with the changed byte; Python's lz4 raises.
#   Frames without block checksums, in blocks of any size, are right.
# Why it matters: -BX and content checksums are chosen for files that are to be kept safe. A viewer in a browser shows other bytes of
#   just these, and damage as data, where every other reader of the same file is right or raises.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for tool in node npm python3; do command -v $tool >/dev/null || { echo "needs $tool"; exit 1; }; done
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install lz4==4.4.5
npm install --silent --no-fund lz4js@0.2.0 > npm.log
cat > write.py <<'PY'
import pathlib
from lz4 import frame

def write(name, content):
    pathlib.Path(name).write_bytes(content)
    try:
        print(f"Python, {name}: {len(frame.decompress(content))} bytes")
    except RuntimeError:
        print(f"Python, {name}: RuntimeError")

greeting = b"hello hello hello hello"
lines = b"".join(b"record %d, value %d\n" % (number, number * 7919 % 100_003) for number in range(20_000))
pathlib.Path("lines").write_bytes(lines)
write("plain", frame.compress(greeting))
write("block-checksums", frame.compress(greeting, block_checksum=True))
write("block-checksums-no-size", frame.compress(greeting, block_checksum=True, store_size=False))
for linked in True, False:
    name = "lines-linked" if linked else "lines-apart"
    write(name, frame.compress(lines, block_size=frame.BLOCKSIZE_MAX64KB, block_linked=linked))
    write(name + "-checksums", frame.compress(lines, block_size=frame.BLOCKSIZE_MAX64KB, block_linked=linked, block_checksum=True))
damaged = bytearray(frame.compress(greeting, content_checksum=True))
damaged[damaged.index(b"hello")] = ord("j")
write("damaged", bytes(damaged))
PY
cat > read.js <<'JS'
const { decompress } = require("lz4js"), { readFileSync } = require("fs");
const known = new Set(readFileSync("lines", "latin1").split("\n").slice(0, -1));
for (const name of ["plain", "block-checksums", "block-checksums-no-size", "lines-linked", "lines-linked-checksums", "lines-apart", "lines-apart-checksums", "damaged"]) {
  const bytes = Buffer.from(decompress(readFileSync(name)));
  const shown = bytes.length > 100 ? `, ${bytes.toString("latin1").split("\n").filter((line) => known.has(line)).length} lines right`
    : ` ${JSON.stringify(bytes.toString("latin1"))}`;
  console.log(`lz4js, ${name}: ${bytes.length} bytes${shown}`);
}
JS
{ env/bin/python write.py && node read.js; } > seen

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these versions did when this was written"; exit 1; }
Python, plain: 23 bytes
Python, block-checksums: 23 bytes
Python, block-checksums-no-size: 23 bytes
Python, lines-linked: 506672 bytes
Python, lines-linked-checksums: 506672 bytes
Python, lines-apart: 506672 bytes
Python, lines-apart-checksums: 506672 bytes
Python, damaged: RuntimeError
lz4js, plain: 23 bytes "hello hello hello hello"
lz4js, block-checksums: 23 bytes "o \u0006\u0000Ph\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000o"
lz4js, block-checksums-no-size: 28 bytes "o \u0006\u0000Ph\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000o©\u000f7\u0000"
lz4js, lines-linked: 506672 bytes, 20000 lines right
lz4js, lines-linked-checksums: 506481 bytes, 0 lines right
lz4js, lines-apart: 506672 bytes, 20000 lines right
lz4js, lines-apart-checksums: 506672 bytes, 0 lines right
lz4js, damaged: 23 bytes "jello jello jello hello"
EXPECTED
echo "as described: checksums are data"
