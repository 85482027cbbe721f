#!/usr/bin/env bash
# One expression of Ibis: nunique() counts null as a value on Polars only, -7 % 2 is 1 or -1, and 10:00:00.5 equals itself or not,
#   by the backend.
#
# Expected: Ibis is one interface to many engines: an expression means the same on each, or the backend says that it has no
#   translation, as it does for many. Names are those of its documentation: nunique() is the number of distinct values.
# Seen (Ibis 12.0.0 over DuckDB 1.5.6, Polars 1.44.2 and SQLite, one table in memory):
#   nunique() of a, b, null, a is 2, and 3 on Polars, where a group that has nothing but null has one distinct value.
#   -7 % 2 is 1 on Polars and -1 on the others; hash % partitions is negative or not. -2.5 rounded is -2 or -3.
#   epoch_seconds() of half a second before 1970 is 0 on DuckDB; of 10:07:59.999999 SQLite gives the second 10:08:00.
#   t == "10:00:00.500" finds the row on DuckDB and not on SQLite, an error on Polars. greatest() with a null is null on SQLite.
#   "a" cast to an integer is 0 on SQLite, an error elsewhere. x / 0 is null there, infinity elsewhere.
# Why it matters: one writes and tests on a small file with one backend and runs on another: that is what it is for. Distinct
#   clients, partitions and errors by second then differ by a few, and nothing says that two engines were asked two questions.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install 'ibis-framework[duckdb,polars,sqlite]==12.0.0' duckdb==1.5.6 polars==1.44.2 sqlglot==27.29.0 pandas==3.1.1 pyarrow==26.0.1 tzdata
cat > finding.py <<'PY'
import datetime as dt
import warnings

import ibis
import pandas

warnings.filterwarnings("ignore")
moments = [dt.datetime(2026, 1, 1, 10, 0, 0, 500000), dt.datetime(1969, 12, 31, 23, 59, 59, 500000), dt.datetime(2026, 1, 1, 10, 7, 59, 999999)]
t = ibis.memtable(pandas.DataFrame({"s": ["a", "b", None, "a"], "i": [-7, 7, 3, 2], "x": [1.0, 2.5, -2.5, 4.0], "n": [1.0, None, 3.0, 4.0], "t": [*moments, moments[0]]}))
backends = {"DuckDB": ibis.duckdb.connect(), "Polars": ibis.polars.connect(), "SQLite": ibis.sqlite.connect()}
expressions = {
    "s.count()": t.s.count(),
    "s.nunique()": t.s.nunique(),
    "i % 2": t.i % 2,
    "x.round()": t.x.round(),
    "t.epoch_seconds()": t.t.epoch_seconds(),
    't == "... 10:00:00.500"': t.t == "2026-01-01 10:00:00.500",
    "greatest(n, x)": ibis.greatest(t.n, t.x),
    "s.cast(int)": t.s.cast("int64"),
    "x / 0": t.x / (t.i - t.i),
}
for name, expression in expressions.items():
    for backend, connection in backends.items():
        try:
            value = connection.execute(expression)
            told = [None if pandas.isna(cell) else cell for cell in value.tolist()] if hasattr(value, "tolist") and getattr(value, "ndim", 0) else int(value)
        except Exception:
            told = "error"
        print(f"{name}: {backend} {told}")
PY
env/bin/python finding.py > seen

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these versions did when this was written"; exit 1; }
s.count(): DuckDB 3
s.count(): Polars 3
s.count(): SQLite 3
s.nunique(): DuckDB 2
s.nunique(): Polars 3
s.nunique(): SQLite 2
i % 2: DuckDB [-1, 1, 1, 0]
i % 2: Polars [1, 1, 1, 0]
i % 2: SQLite [-1, 1, 1, 0]
x.round(): DuckDB [1, 3, -3, 4]
x.round(): Polars [1, 2, -2, 4]
x.round(): SQLite [1, 3, -3, 4]
t.epoch_seconds(): DuckDB [1767261600, 0, 1767262079, 1767261600]
t.epoch_seconds(): Polars [1767261600, -1, 1767262079, 1767261600]
t.epoch_seconds(): SQLite [1767261600, -1, 1767262080, 1767261600]
t == "... 10:00:00.500": DuckDB [True, False, False, True]
t == "... 10:00:00.500": Polars error
t == "... 10:00:00.500": SQLite [False, False, False, False]
greatest(n, x): DuckDB [1.0, 2.5, 3.0, 4.0]
greatest(n, x): Polars [1.0, 2.5, 3.0, 4.0]
greatest(n, x): SQLite [1.0, None, 3.0, 4.0]
s.cast(int): DuckDB error
s.cast(int): Polars error
s.cast(int): SQLite [0.0, 0.0, None, 0.0]
x / 0: DuckDB [inf, inf, -inf, inf]
x / 0: Polars [inf, inf, -inf, inf]
x / 0: SQLite [None, None, None, None]
EXPECTED
echo "as described: one expression, three answers"
