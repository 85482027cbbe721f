#!/usr/bin/env bash
# In a Vortex file "rate < 0" finds the seconds whose rate is 0 / 0, "x = 0" does not find -0.0, and Polars' filters go by it.
#
# Expected: a number that is none (NaN) is never below zero: it fails every comparison, or counts as the largest number, as it does
#   in Polars, DuckDB and Spark. There is one zero. A filter of a lazy frame finds what the same filter finds behind collect().
# Seen (vortex-data 0.93.0, Polars 2.1.0): Vortex compares the bits as IEEE's total order has them. NaN with a sign is below minus
#   infinity, and 0 / 0 has a sign on Intel's and AMD's processors, in numpy, pyarrow and Polars alike; float("nan") has none and
#   lies above infinity. -0.0 is below 0.0 and not equal to it. VortexFile.to_polars() gives a lazy frame that hands its filters
#   down to the file: of 1, -0.0 and NaN without and with a sign, x < 0 has two there and none behind collect(), x == 0 has none and
#   one, x >= 0 two and four. No error, no warning.
# Why it matters: rates and shares of idle seconds are 0 / 0, and -0.0 is what rounding makes of a small negative difference. "How
#   often did the clock go back" counts idle seconds; "rate >= 0" drops them, and the seconds without a change. The order in which
#   somebody writes filter() and collect(), or a copy to Parquet, changes the answer.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install vortex-data==0.93.0 polars==2.1.0 pyarrow==25.0.1
cat > finding.py <<'PY'
import math

import polars
import pyarrow
import vortex
import vortex.expr

idle = math.copysign(math.nan, -1)  # what 0 / 0 gives on x86
vortex.io.write(pyarrow.table({"x": [1.0, -0.0, math.nan, idle]}), "rates.vortex")
file = vortex.open("rates.vortex")
x = vortex.expr.column("x")
print("Vortex, x < 0:", [row["x"] for row in file.scan(expr=x < 0.0).read_all().to_arrow_array().to_pylist()])
print("Vortex, x = 0:", [row["x"] for row in file.scan(expr=x == 0.0).read_all().to_arrow_array().to_pylist()])
lazy, x = file.to_polars(), polars.col("x")
for name, condition in {"x < 0": x < 0, "x == 0": x == 0, "x >= 0": x >= 0, "x > 100": x > 100, "is_nan": x.is_nan()}.items():
    print(f"Polars, {name}: {lazy.filter(condition).collect().height} in the file, {lazy.collect().filter(condition).height} behind collect()")
PY
env/bin/python finding.py > seen

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these versions did when this was written"; exit 1; }
Vortex, x < 0: [-0.0, nan]
Vortex, x = 0: []
Polars, x < 0: 2 in the file, 0 behind collect()
Polars, x == 0: 0 in the file, 1 behind collect()
Polars, x >= 0: 2 in the file, 4 behind collect()
Polars, x > 100: 1 in the file, 2 behind collect()
Polars, is_nan: 2 in the file, 2 behind collect()
EXPECTED
echo "as described: idle seconds are below zero"
