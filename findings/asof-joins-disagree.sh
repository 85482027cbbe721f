#!/usr/bin/env bash
# Of two rows at one time an ASOF join takes the last in Python's libraries and the first in SQL engines.
#
# Expected: "the nearest row at or before" is one row, and the engines that have the join agree which.
# Seen: of two rows with the same time pandas 3.1.1, Polars 2.1.0 and pyarrow 26 take the later one of the table, DuckDB 2.0.1
#   and chDB 4.4.0 the earlier one. Forward, all five take the earlier one. "Nearest" between two rows as far away on
#   both sides is the one before to pandas, the one after to Polars, and with two rows behind it the first to pandas, the last to
#   Polars. No engine reports a tie.
# Why it matters: in whole milliseconds or seconds ties are common: two offsets committed, two metadata changes, a request and its
#   retry. The same join of the same tables gives another state of the world, by the engine that a notebook happens to use.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install duckdb==2.0.1 pandas==3.1.1 polars==2.1.0 pyarrow==26.0.1 chdb==4.4.0

env/bin/python - > seen 2> log <<'PY' || { cat log; exit 1; }
import chdb, duckdb, pandas, polars, pyarrow

left = pandas.DataFrame({"k": [1], "t": [10]})

def rows(*pairs):
    return pandas.DataFrame({"k": 1, "t": [time for time, _ in pairs], "v": [name for _, name in pairs]})

def in_pandas(right, direction):
    return pandas.merge_asof(left, right, on="t", by="k", direction=direction).v[0]

def in_polars(right, direction):
    joined = polars.from_pandas(left).join_asof(polars.from_pandas(right), on="t", by="k", strategy=direction)
    return joined["v"][0]

def in_duckdb(right, sign):
    query = f"SELECT v FROM l ASOF JOIN r ON l.k = r.k AND l.t {sign} r.t"
    database = duckdb.connect()
    database.register("l", left)
    database.register("r", right)
    return database.execute(query).fetchall()[0][0]

def in_chdb(right, sign):
    values = ", ".join(f"({row.k}, {row.t}, '{row.v}')" for row in right.itertuples())
    query = f"SELECT v FROM (SELECT 1 AS k, 10 AS t) AS l ASOF JOIN (SELECT * FROM values('k UInt8, t Int64, v String', {values})) AS r"
    return str(chdb.query(f"{query} ON l.k = r.k AND l.t {sign} r.t")).strip().strip('"')

def in_pyarrow(right, tolerance):
    joined = pyarrow.table(left).join_asof(pyarrow.Table.from_pandas(right), on="t", by="k", tolerance=tolerance)
    return joined["v"][0].as_py()

for name, right, direction, sign, tolerance in (
    ("two at the same time", rows((10, "first"), (10, "second")), "backward", ">=", -9),
    ("two before", rows((5, "first"), (5, "second")), "backward", ">=", -9),
    ("two behind", rows((15, "first"), (15, "second")), "forward", "<=", 9),
):
    answers = [in_pandas(right, direction), in_polars(right, direction), in_pyarrow(right, tolerance)]
    print(f"{name}: pandas, Polars, pyarrow {answers}; DuckDB, chDB {[in_duckdb(right, sign), in_chdb(right, sign)]}")
for name, right in (
    ("one on each side", rows((5, "before"), (15, "after"))),
    ("two behind", rows((15, "first"), (15, "second"))),
):
    print(f"nearest, {name}: pandas, Polars", [in_pandas(right, "nearest"), in_polars(right, "nearest")])
PY

diff - seen <<'EXPECTED' || { cat log; echo "CHANGED: not what these versions did when this was written"; exit 1; }
two at the same time: pandas, Polars, pyarrow ['second', 'second', 'second']; DuckDB, chDB ['first', 'first']
two before: pandas, Polars, pyarrow ['second', 'second', 'second']; DuckDB, chDB ['first', 'first']
two behind: pandas, Polars, pyarrow ['first', 'first', 'first']; DuckDB, chDB ['first', 'first']
nearest, one on each side: pandas, Polars ['before', 'after']
nearest, two behind: pandas, Polars ['first', 'second']
EXPECTED
echo "as described: the engines disagree about ties"
