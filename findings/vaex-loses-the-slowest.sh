#!/usr/bin/env bash
# vaex: a histogram from the least to the largest has no largest, and percentiles of latencies are below zero or above the maximum.
#
# Expected: limits="minmax" (the default) is the range of the values, so count(binby=...) counts each of them, as numpy's histogram
#   does, where the last bin holds the upper end. percentile_approx() is an estimate, between the least value and the largest.
# Seen (vaex-core 4.19.0):
#   Of 12, 13, 14, 15 and 3000 ms four bins hold 4, 0, 0, 0; sums by bin add up to 54 of 3054, and the largest maximum of a bin is
#     15. Bins of a column 0, 0, 1, 1, 2 hold 2 and 2.
#   99990 latencies between 10 and 14 ms and ten of 30 s: p1 is -4.4, p90 21.7, p99 24.4, where the true ones are 10.04, 13.6 and
#     13.96. Of 1, 2, 3, 5, 7, 40000 p25 is below zero and p99 40058. Without the ten of 30 s all is right.
# Why it matters: the one value that is left out is the one that a histogram of latencies is made for. A single timeout makes the
#   percentiles of all other requests a matter of its size, and min, max, mean and count beside them are right.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install vaex-core==4.19.0 numpy==2.4.6 pandas==2.3.3 pyarrow==25.0.1
cat > finding.py <<'PY'
import numpy, vaex

latencies = numpy.array([12.0, 13.0, 14.0, 15.0, 3000.0])
frame = vaex.from_arrays(x=latencies)
print("counts:", frame.count(binby="x", shape=4).tolist(), "numpy:", numpy.histogram(latencies, 4)[0].tolist(), "all:", int(frame.count("x")))
print("sums:", frame.sum("x", binby="x", shape=4).tolist(), "all:", float(frame.sum("x")))
print("maxima:", frame.max("x", binby="x", shape=4).tolist(), "all:", float(frame.max("x")))
whole = vaex.from_arrays(x=numpy.array([0, 0, 1, 1, 2]))
print("counts of 0, 0, 1, 1, 2:", whole.count(binby="x", limits="minmax", shape=2).tolist())
usual = numpy.linspace(10, 14, 99_990)
for name, values in ("usual", usual), ("with ten of 30 s", numpy.concatenate([usual, [30_000.0] * 10])), ("six", numpy.array([1.0, 2, 3, 5, 7, 40_000])):
    frame = vaex.from_arrays(x=values)
    print(f"{name}:", *(f"p{p} {float(frame.percentile_approx('x', p)):.1f} ({numpy.percentile(values, p):.1f})" for p in (1, 25, 50, 90, 99)))
PY
env/bin/python -W ignore finding.py > seen 2> log || { cat log; exit 1; }

diff - seen <<'EXPECTED' || { cat log; echo "CHANGED: not what these versions did when this was written"; exit 1; }
counts: [4, 0, 0, 0] numpy: [4, 0, 0, 1] all: 5
sums: [54.0, 0.0, 0.0, 0.0] all: 3054.0
maxima: [15.0, -inf, -inf, -inf] all: 3000.0
counts of 0, 0, 1, 1, 2: [2, 2]
usual: p1 10.0 (10.0) p25 11.0 (11.0) p50 12.0 (12.0) p90 13.6 (13.6) p99 14.0 (14.0)
with ten of 30 s: p1 -4.4 (10.0) p25 2.7 (11.0) p50 10.0 (12.0) p90 21.7 (13.6) p99 24.4 (14.0)
six: p1 -18.0 (1.1) p25 -4.9 (2.2) p50 8.8 (4.0) p90 40058.6 (20003.5) p99 40058.6 (38000.4)
EXPECTED
echo "as described: the largest is in no bin"
