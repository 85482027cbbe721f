#!/usr/bin/env bash
# Of a file of several zstd or lz4 frames Python's libraries return all or only the first, by which function of them is
#   called.
#
# Expected: the functions of one library agree; what they do not return raises an error. Concatenated frames are valid, and
#   what `cat a.zst b.zst`, pzstd and appending writers give; gzip, bz2 and lzma of the standard library return all members.
# Seen: zstandard 0.25.0: stream_reader, open and copy_stream return all, decompress, decompressobj and read_to_iter the first
#   frame, and nothing tells that bytes were left. With a skippable frame before (pzstd) read_to_iter and decompressobj return
#   b"". lz4 4.4.5: lz4.frame.open returns all, lz4.frame.decompress the first frame; behind a skippable frame b"". cramjam
#   2.14, pyzstd 0.20, backports.zstd 1.8 (the standard library's from 3.14) and pyarrow 26 return all.
# Why it matters: rotated captures and exports that were put together with cat shrink to their first part in silence, and a
#   test file of one frame passes. A change of library, or of the function, changes the number of rows.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install zstandard==0.25.0 lz4==4.4.5 cramjam==2.14.0 pyzstd==0.20.0 backports.zstd==1.8.0 \
    pyarrow==26.0.1

env/bin/python - > seen <<'PY'
import io, struct
import cramjam, lz4.frame, pyarrow, pyzstd, zstandard
from backports import zstd as standard

SKIPPABLE = struct.pack("<II", 0x184D2A50, 4) + b"size"

def copied(data):
    out = io.BytesIO()
    zstandard.ZstdDecompressor().copy_stream(io.BytesIO(data), out)
    return out.getvalue()

def arrow(data, codec):
    return pyarrow.CompressedInputStream(pyarrow.BufferReader(data), codec).read()

ZSTD = {
    "zstandard decompress": lambda data: zstandard.ZstdDecompressor().decompress(data),
    "zstandard decompressobj": lambda data: zstandard.ZstdDecompressor().decompressobj().decompress(data),
    "zstandard read_to_iter": lambda data: b"".join(zstandard.ZstdDecompressor().read_to_iter(io.BytesIO(data))),
    "zstandard stream_reader": lambda data: zstandard.ZstdDecompressor().stream_reader(io.BytesIO(data)).read(),
    "zstandard open": lambda data: zstandard.open(io.BytesIO(data)).read(),
    "zstandard copy_stream": copied,
    "pyzstd": pyzstd.decompress,
    "backports.zstd": standard.decompress,
    "cramjam zstd": cramjam.zstd.decompress,
    "pyarrow zstd": lambda data: arrow(data, "zstd"),
}
LZ4 = {
    "lz4.frame.decompress": lz4.frame.decompress,
    "lz4.frame.open": lambda data: lz4.frame.open(io.BytesIO(data)).read(),
    "cramjam lz4": cramjam.lz4.decompress,
    "pyarrow lz4": lambda data: arrow(data, "lz4"),
}
for readers, pack in (ZSTD, zstandard.ZstdCompressor().compress), (LZ4, lz4.frame.compress):
    frames = pack(b"first ") + pack(b"second")
    for name, read in readers.items():
        answers = []
        for data in frames, SKIPPABLE + frames:
            try:
                answers.append(str(bytes(read(data))))
            except zstandard.ZstdError:
                answers.append("ZstdError")
        print(f"{name}: {answers[0]}, behind a skippable frame {answers[1]}")
PY

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these versions did when this was written"; exit 1; }
zstandard decompress: b'first ', behind a skippable frame ZstdError
zstandard decompressobj: b'first ', behind a skippable frame b''
zstandard read_to_iter: b'first ', behind a skippable frame b''
zstandard stream_reader: b'first second', behind a skippable frame b'first second'
zstandard open: b'first second', behind a skippable frame b'first second'
zstandard copy_stream: b'first second', behind a skippable frame b'first second'
pyzstd: b'first second', behind a skippable frame b'first second'
backports.zstd: b'first second', behind a skippable frame b'first second'
cramjam zstd: b'first second', behind a skippable frame b'first second'
pyarrow zstd: b'first second', behind a skippable frame b'first second'
lz4.frame.decompress: b'first ', behind a skippable frame b''
lz4.frame.open: b'first second', behind a skippable frame b'first second'
cramjam lz4: b'first second', behind a skippable frame b'first second'
pyarrow lz4: b'first second', behind a skippable frame b'first second'
EXPECTED
echo "as described: the first frame or all, by function"
