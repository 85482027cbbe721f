#!/usr/bin/env bash
# The entropy of three hosts' bytes is 0.69 in Polars, and -58.96 behind lazy(): the two engines of one library.
#
# Expected: an expression means the same in a DataFrame and in a LazyFrame. An entropy is between 0 and ln(3) here. arg_max() is the
#   index of the first of equal values, as it is in numpy and pandas, in a LazyFrame too.
# Seen (Polars 2.1.0): select() of a DataFrame is done by the engine in memory, collect() of a LazyFrame by the streaming one unless
#   told otherwise. entropy() of a UInt32 column whose sum is above 2^32 is right in the one (0.693) and -58.96 in the other, of an
#   Int32 above 2^31 it is NaN, of no rows -0.0 and NaN. In 64 bits both are right. arg_max() of 40 values of which the first of the
#   largest is at 1 is another of the equal ones in the streaming engine, with more than one thread. No error, no warning.
# Why it matters: entropy is how evenly traffic is spread over partitions, hosts or clients, and the number of bytes is what it is
#   made of: UInt32 up to 4 GB in sum. A query that is made lazy for its speed, or whose file is scanned and not read, has a number
#   that looks like a collapse of one partition; rows looked up by arg_max() are others.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install polars==2.1.0
cat > finding.py <<'PY'
import polars

def show(name, frame, expression):
    eager, lazy = (frame.select(expression).item(), frame.lazy().select(expression).collect().item())
    return f"{name}: DataFrame {eager:.2f}, LazyFrame {lazy:.2f}"

hosts = [3_000_000_000, 2_900_000_000, 1]
for name, values in (("UInt32", hosts), ("UInt64", hosts), ("UInt32", [30, 29, 1]), ("Int32", [2_000_000_000, 1_900_000_000, 1]), ("Float64", hosts), ("Int64", [])):
    column = polars.DataFrame({"bytes": polars.Series(values, dtype=getattr(polars, name))})
    print(show(f"entropy of {name} {values}", column, polars.col("bytes").entropy()))
equal = polars.DataFrame({"ms": [5, 9, 9, 1] * 10})
print("arg_max: DataFrame", equal.select(polars.col("ms").arg_max()).item(), "LazyFrame the same" if equal.lazy().select(polars.col("ms").arg_max()).collect().item() == 1 else "LazyFrame another")
PY
POLARS_MAX_THREADS=4 env/bin/python finding.py > seen

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these versions did when this was written"; exit 1; }
entropy of UInt32 [3000000000, 2900000000, 1]: DataFrame 0.69, LazyFrame -58.96
entropy of UInt64 [3000000000, 2900000000, 1]: DataFrame 0.69, LazyFrame 0.69
entropy of UInt32 [30, 29, 1]: DataFrame 0.77, LazyFrame 0.77
entropy of Int32 [2000000000, 1900000000, 1]: DataFrame 0.69, LazyFrame nan
entropy of Float64 [3000000000, 2900000000, 1]: DataFrame 0.69, LazyFrame 0.69
entropy of Int64 []: DataFrame -0.00, LazyFrame nan
arg_max: DataFrame 1 LazyFrame another
EXPECTED
echo "as described: two engines, two entropies"
