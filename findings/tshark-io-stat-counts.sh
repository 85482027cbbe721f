#!/usr/bin/env bash
# tshark 4.0.17's "-z io,stat" leaves a frame out if the capture ends with a full interval, and counts late ones in other intervals.
#
# Expected: each frame is counted once, in the interval of its time (frame.time_relative); the column's sum is the number of frames.
# Seen: a last frame exactly at a multiple of the interval is in no row: of four frames, one a second, three are counted, and one
#   "-z io,stat,0.1" of ten a second loses one. If frames are not in order of time (several interfaces or queues, mergecap -a), one
#   that is older than its interval is counted in the interval that was being filled: of 0.0, 2.5, 1.5, 0.5 s three are said
#   to lie behind 2 s. What is older than the first frame is counted in the first interval. reordercap mends the latter only.
# Why it matters: rates per second are made with it. A stall of a second is shown where requests went on (and the burst behind it
#   where there was none), and sums differ from capinfos by one packet, in files whose times were rounded to milliseconds.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for tool in tshark python3; do command -v $tool >/dev/null || { echo "needs $tool"; exit 1; }; done
cat > finding.py <<'PY'
import re
import struct
import subprocess

frame = bytes(12) + b"\x88\xb5" + bytes(46)

def counted(interval, *milliseconds):
    with open("capture.pcap", "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, 1))
        for time in milliseconds:
            second, rest = divmod(1_700_000_000_000 + time, 1000)
            file.write(struct.pack("<IIII", second, rest * 1000, len(frame), len(frame)) + frame)
    told = subprocess.run(["tshark", "-r", "capture.pcap", "-q", "-z", f"io,stat,{interval}"], capture_output=True, text=True, check=True)
    rows = re.findall(r"\| +([\d.]+) <> +([\d.]+|Dur) *\| +(\d+) \|", told.stdout)
    print(f"{', '.join(str(time / 1000) for time in milliseconds)} s by {interval} s: {[int(row[2]) for row in rows]}")

counted(1, 0, 1000, 2000, 3000)
counted(1, 0, 1000, 2000, 2999)
counted(0.1, 0, 100, 200, 300)
counted(10, 0, 1000, 5000, 10000)
counted(1, 0, 500, 1500, 2500, 3100)
counted(1, 0, 2500, 1500, 500, 3100)
counted(1, 2500, 0, 500, 1500, 5600)
PY
python3 finding.py > seen 2> log || { tail -3 log; exit 1; }

diff - seen <<'EXPECTED' || { echo "CHANGED: not what tshark 4.0.17 did when this was written"; exit 1; }
0.0, 1.0, 2.0, 3.0 s by 1 s: [1, 1, 1]
0.0, 1.0, 2.0, 2.999 s by 1 s: [1, 1, 2]
0.0, 0.1, 0.2, 0.3 s by 0.1 s: [1, 1, 1]
0.0, 1.0, 5.0, 10.0 s by 10 s: [3]
0.0, 0.5, 1.5, 2.5, 3.1 s by 1 s: [2, 1, 1, 1]
0.0, 2.5, 1.5, 0.5, 3.1 s by 1 s: [1, 0, 3, 1]
2.5, 0.0, 0.5, 1.5, 5.6 s by 1 s: [4, 0, 0, 1]
EXPECTED
echo "as described: frames in no interval, and in another one's"
