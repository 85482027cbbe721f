#!/usr/bin/env bash
# Dask: eight times a millisecond apart deviate by 2.4 ms, and by 3.0 ms when grouped by key; their covariance by key is 1.8e18.
#
# Expected: one group of all rows has the deviation, the variance and the correlation of the column, as in pandas; a mean lies
#   between the least and the largest value. (Its issues tell of tiny deviations of equal values by key.)
# Seen (dask 2026.8.0 with pandas 3.1.1):
#   std(), var(), cov() and corr() behind groupby() subtract two sums of squares: of times in epoch milliseconds the variance is
#   9.14, not 6.0, the covariance of a column with itself 1.8e18, not 14, and the correlation with a latency 3e-10, not 0.12.
#   Without groupby() the same functions are right. Each column's correlation with itself is 1, so nothing looks wrong.
#   mean() of times in epoch nanoseconds wraps from six rows on: eight times of 2026 have one of 1952, with groupby() or without.
# Why it matters: jitter of time by client or partition is what one groups for, and 3.0 is near enough to be believed. A frame
#   that fits one machine has the right numbers in pandas, so a trial does not show it.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
command -v python3 >/dev/null || { echo "needs python3"; exit 1; }
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install "dask[dataframe]==2026.8.0" pandas==3.1.1 pyarrow==25.0.1 numpy==2.4.6
cat > finding.py <<'PY'
import warnings

import dask, dask.dataframe as dd, pandas as pd

warnings.simplefilter("ignore")
dask.config.set(scheduler="synchronous")
frame = pd.DataFrame({"key": "a", "ms": [1_767_261_600_123 + n for n in range(8)]})
frame["ns"] = frame.ms * 1_000_000
pairs = pd.DataFrame({"k": ["a", "b"] * 6, "ms": [5, 5, 900, 6, 7, 8, 9, 700, 3, 2, 1, 1], "t": [1_767_261_600_123 + n for n in range(12)]})
for partitions in (0, 2, 4):
    split = (lambda table: dd.from_pandas(table, npartitions=partitions)) if partitions else (lambda table: table)
    done = lambda value: value.compute() if hasattr(value, "compute") else value
    times, both = split(frame), split(pairs)
    print(f"Dask, {partitions} partitions" if partitions else "pandas")
    print(f"  all: std {done(times.ms.std()):.3f} var {done(times.ms.var()):.3f} mean ns {done(times.ns.mean()):.4g}")
    keys = times.groupby("key")
    print(f"  by key: std {done(keys.ms.std())['a']:.3f} var {done(keys.ms.var())['a']:.3f} mean ns {done(keys.ns.mean())['a']:.4g}")
    print(f"  all: corr {done(both[['ms', 't']].corr()).loc['ms', 't']:.2g} cov {done(both[['ms', 't']].cov()).loc['t', 't']:.3g}")
    corr, cov = (done(getattr(both.groupby("k")[["ms", "t"]], name)()) for name in ("corr", "cov"))
    print(f"  key b: corr {corr.loc['b', 'ms'].loc['t']:.2g}, with itself {corr.loc['b', 't'].loc['t']:.2g} cov {cov.loc['b', 't'].loc['t']:.3g}")
PY
timeout 200 env/bin/python finding.py > seen

diff - seen <<'EXPECTED' || { echo "CHANGED: not what Dask 2026.8.0 did when this was written"; exit 1; }
pandas
  all: std 2.449 var 6.000 mean ns 1.767e+18
  by key: std 2.449 var 6.000 mean ns 1.767e+18
  all: corr -0.17 cov 13
  key b: corr 0.12, with itself 1 cov 14
Dask, 2 partitions
  all: std 2.449 var 6.000 mean ns -5.386e+17
  by key: std 3.024 var 9.143 mean ns -5.386e+17
  all: corr -0.17 cov 13
  key b: corr 3.4e-10, with itself 1 cov 1.84e+18
Dask, 4 partitions
  all: std 2.449 var 6.000 mean ns -5.386e+17
  by key: std 3.024 var 9.143 mean ns -5.386e+17
  all: corr -0.17 cov 13
  key b: corr 3.4e-10, with itself 1 cov 1.84e+18
EXPECTED
echo "as described: other deviations by key"
