#!/usr/bin/env bash
# In Opteryx SUM(ms * 1000) of 1, 2 and null is -9223372036854772808, and COUNT(x) is 2 or 3, by what else is selected.
#
# Expected: null times a number is null, and aggregates pass over nulls, as in every SQL; what else is selected changes none of
#   them. GROUP BY over one group gives what the same SELECT gives without it. CROSS JOIN pairs every row with every row.
# Seen (opteryx 0.26.8; three rows 1, 2 and null, as doubles and as integers, in Parquet):
#   Of the integers SUM(i) is 3, SUM(i * 1000) some -9.2e18, AVG(i * 1000) -3.1e18: null is taken as the smallest int64, and the sum
#     wraps. Of the doubles SUM(x) is 3.0 and SUM(x * 1000) NaN.
#   SUM(x), AVG(x), COUNT(x) are 3.0, 1.5 and 2. With STDDEV(x) selected beside them they are NaN, NaN and 3.
#   COUNT(DISTINCT x) is 3. With GROUP BY over the one group it is 2, and what stands beside STDDEV(x) is right, as that is: 0.5.
#   COUNT(*) of a CROSS JOIN is the number of rows at its left; the rows themselves are all there.
#   Keys that are null do not meet in INNER and LEFT JOIN, and do in FULL and LEFT SEMI JOIN.
# Why it matters: a request without an answer has no latency. Its null makes the total of all latencies, once they are converted, a
#   number that is not theirs; a deviation beside it changes how many requests there were; "how many clients" is one more than there
#   are, in all, and right by group.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install opteryx==0.26.8 pyarrow==26.0.1
cat > finding.py <<'PY'
import opteryx, pyarrow as pa, pyarrow.parquet as pq

left = {"one": ["g"] * 3, "x": [1.0, 2.0, None], "i": pa.array([1, 2, None], pa.int64()), "k": ["a", "b", None]}
pq.write_table(pa.table(left), "left.parquet")
pq.write_table(pa.table({"w": [1, 2, 3, 4], "k": ["a", "c", None, "d"]}), "right.parquet")

def ask(sql):
    print(sql.replace(".parquet", ""), "->", *sorted((tuple(row) for row in opteryx.query(sql).fetchall()), key=str))

for columns in ("SUM(i), AVG(i)", "SUM(i * 1000)", "AVG(i * 1000)", "SUM(x * 1000)", "SUM(x), AVG(x), COUNT(x)",
        "SUM(x), AVG(x), COUNT(x), STDDEV(x)", "COUNT(DISTINCT x)"):
    ask(f"SELECT {columns} FROM left.parquet")
for columns in "SUM(i * 1000)", "SUM(x), AVG(x), COUNT(x), STDDEV(x)", "COUNT(DISTINCT x)":
    ask(f"SELECT one, {columns} FROM left.parquet GROUP BY one")
ask("SELECT COUNT(*) FROM left.parquet CROSS JOIN right.parquet")
print("rows of the CROSS JOIN:", len(opteryx.query("SELECT * FROM left.parquet CROSS JOIN right.parquet").fetchall()))
for kind in "INNER", "LEFT", "FULL":
    ask(f"SELECT a.x, b.w FROM left.parquet AS a {kind} JOIN right.parquet AS b ON a.k = b.k")
ask("SELECT a.x FROM left.parquet AS a LEFT SEMI JOIN right.parquet AS b ON a.k = b.k")
PY
env/bin/python -W ignore finding.py > seen 2> log || { cat log; exit 1; }

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these versions did when this was written"; exit 1; }
SELECT SUM(i), AVG(i) FROM left -> (3, 1.5)
SELECT SUM(i * 1000) FROM left -> (-9223372036854772808,)
SELECT AVG(i * 1000) FROM left -> (-3.0744573456182574e+18,)
SELECT SUM(x * 1000) FROM left -> (nan,)
SELECT SUM(x), AVG(x), COUNT(x) FROM left -> (3.0, 1.5, 2)
SELECT SUM(x), AVG(x), COUNT(x), STDDEV(x) FROM left -> (nan, nan, 3, nan)
SELECT COUNT(DISTINCT x) FROM left -> (3,)
SELECT one, SUM(i * 1000) FROM left GROUP BY one -> ('g', -9223372036854772808)
SELECT one, SUM(x), AVG(x), COUNT(x), STDDEV(x) FROM left GROUP BY one -> ('g', 3.0, 1.5, 2, 0.5)
SELECT one, COUNT(DISTINCT x) FROM left GROUP BY one -> ('g', 2)
SELECT COUNT(*) FROM left CROSS JOIN right -> (3,)
rows of the CROSS JOIN: 12
SELECT a.x, b.w FROM left AS a INNER JOIN right AS b ON a.k = b.k -> (1.0, 1)
SELECT a.x, b.w FROM left AS a LEFT JOIN right AS b ON a.k = b.k -> (1.0, 1) (2.0, None) (None, None)
SELECT a.x, b.w FROM left AS a FULL JOIN right AS b ON a.k = b.k -> (1.0, 1) (2.0, None) (None, 2) (None, 3) (None, 4)
SELECT a.x FROM left AS a LEFT SEMI JOIN right AS b ON a.k = b.k -> (1.0,) (None,)
EXPECTED
echo "as described: one null changes totals and counts"
