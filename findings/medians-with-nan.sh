#!/usr/bin/env bash
# The median of 1, 2, 3 and two NaN is 2, 3 or NaN, by the engine, and within DuckDB and DataFusion by the function.
#
# Expected: NaN is left out of a median, as pandas and ClickHouse do, or the answer is NaN, as numpy's is: it shows that something is
#   missing. Median, approximate median and maximum of one engine follow one rule.
# Seen: DuckDB 2.0.1, DataFusion 55 and Polars 2.1.0 count NaN as the largest of numbers, so each NaN moves the median up: 3, which is
#   the largest of the true values. approx_quantile of DuckDB leaves NaN out (2), approx_median of DataFusion is NaN. Polars' max()
#   leaves it out (3) and its quantile(0.9) does not (NaN). ClickHouse (chDB 4.4.0), pandas 3.1.1 and pyarrow 26 say 2 throughout.
#   Python's statistics.median gives 1, 2 or 3, by the order of the rows. No error, no warning.
# Why it matters: rates and ratios of idle seconds are NaN (0 / 0). A median "of the busy seconds" goes up the more of them were idle,
#   and stays a plausible number until more than half are NaN; the approximate function, taken for speed, tells another one.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install pandas==3.1.1 polars==2.1.0 pyarrow==26.0.1 duckdb==2.0.1 chdb==4.4.0 \
    datafusion==55.0.0
env/bin/python - > seen 2> log <<'PY' || { cat log; exit 1; }
import math, statistics
import chdb, datafusion, duckdb, numpy, pandas, polars
import pyarrow as pa, pyarrow.compute as pc, pyarrow.parquet as pq

NAN = math.nan
VALUES = [1.0, 2.0, 3.0, NAN, NAN]
pq.write_table(pa.table({"v": VALUES}), "rows.parquet", write_statistics=False)
context = datafusion.SessionContext()
context.register_parquet("rows", "rows.parquet")

def by_datafusion(function):
    return context.sql(f"SELECT {function} AS m FROM rows").to_pydict()["m"][0]

def by_duckdb(function):
    return duckdb.sql(f"SELECT {function} FROM 'rows.parquet'").fetchall()[0][0]

def by_clickhouse(function):
    return float(chdb.query(f"SELECT {function} FROM file('rows.parquet')").data())

series, array = polars.Series(VALUES), pa.array(VALUES)
for name, answers in {
    "DuckDB median, approx_quantile, max, quantile_cont 0.9": map(by_duckdb, ("median(v)", "approx_quantile(v, 0.5)", "max(v)", "quantile_cont(v, 0.9)")),
    "DataFusion median, approx_median, max": map(by_datafusion, ("median(v)", "approx_median(v)", "max(v)")),
    "Polars median, max, quantile 0.9": (series.median(), series.max(), series.quantile(0.9)),
    "ClickHouse median, quantileExact, quantileTDigest, max": map(by_clickhouse, ("median(v)", "quantileExact(v)", "quantileTDigest(v)", "max(v)")),
    "pandas median, max": (pandas.Series(VALUES).median(), pandas.Series(VALUES).max()),
    "pyarrow quantile, approximate_median, max": (pc.quantile(array)[0].as_py(), pc.approximate_median(array).as_py(), pc.max(array).as_py()),
    "numpy median, max": (numpy.median(VALUES), numpy.max(VALUES)),
    "statistics.median, NaN last, first, between": map(statistics.median, (VALUES, VALUES[3:] + VALUES[:3], [1.0, NAN, 2.0, NAN, 3.0])),
}.items():
    print(f"{name}:", *(f"{answer:g}" for answer in answers))
PY

diff - seen <<'EXPECTED' || { cat log; echo "CHANGED: not what these versions did when this was written"; exit 1; }
DuckDB median, approx_quantile, max, quantile_cont 0.9: 3 2 nan nan
DataFusion median, approx_median, max: 3 nan nan
Polars median, max, quantile 0.9: 3 3 nan
ClickHouse median, quantileExact, quantileTDigest, max: 2 2 2 3
pandas median, max: 2 3
pyarrow quantile, approximate_median, max: 2 2 3
numpy median, max: nan nan
statistics.median, NaN last, first, between: 3 1 2
EXPECTED
echo "as described: medians with NaN"
