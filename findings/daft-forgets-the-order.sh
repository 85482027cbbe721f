#!/usr/bin/env bash
# In Daft's SQL a UNION has no ORDER BY and no LIMIT, SELECT DISTINCT takes other rows than the first, and a running sum is the
#   total.
#
# Expected: ORDER BY and LIMIT behind a query hold for its result. sum(x) OVER (PARTITION BY g ORDER BY k) without a frame runs up to
#   the row, as in every SQL. NOT IN of a subquery with a null finds nothing. What Daft does not have it refuses: IS DISTINCT FROM and
#   FIRST_VALUE are errors.
# Seen (daft 0.7.26, beside DuckDB 2.0.1):
#   SELECT ... UNION ALL SELECT ... ORDER BY k LIMIT 2 returns all rows, in no order.
#   SELECT DISTINCT k ... ORDER BY k LIMIT 2 sorts first, then looks for what is distinct, in no order, then cuts: any two rows.
#   A window with PARTITION BY and ORDER BY is the whole partition to sum, avg, count and max, unless there is a ROWS BETWEEN;
#     row_number() does run.
#   ORDER BY of a name that a column and a result share (-k AS k) sorts by the column: the least is the largest.
#   NOT IN takes a null of the subquery for a value, and a row with null for one that is not in it.
# Why it matters: "the three largest" of two topics are all of them, or three others; offsets added up row by row are the day's
#   total in each row. Small tables show it or not, by how many threads share the rows.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install daft==0.7.26 duckdb==2.0.1
cat > finding.py <<'PY'
import daft
import duckdb

columns = {"k": list(range(1, 101)), "g": ["a"] * 3 + ["b"] * 96 + [None], "i": [None, *range(2, 101)]}
t = daft.from_pydict(columns)
duckdb.execute("CREATE TABLE t (k BIGINT, g VARCHAR, i BIGINT)")
duckdb.executemany("INSERT INTO t VALUES (?, ?, ?)", list(zip(*columns.values())))
for query in (
    "SELECT k FROM t WHERE k < 6 UNION ALL SELECT k FROM t WHERE k > 95 ORDER BY k LIMIT 2",
    "SELECT DISTINCT k FROM t ORDER BY k LIMIT 2",
    "SELECT k, sum(k) OVER (PARTITION BY g ORDER BY k) AS r FROM t WHERE k < 4 ORDER BY k",
    "SELECT k, row_number() OVER (PARTITION BY g ORDER BY k) AS r FROM t WHERE k < 4 ORDER BY k",
    "SELECT k, sum(k) OVER (PARTITION BY g ORDER BY k ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS r FROM t WHERE k < 4 ORDER BY k",
    "SELECT -k AS k FROM t ORDER BY k LIMIT 2",
    "SELECT k FROM t WHERE k NOT IN (SELECT i FROM t)",
    "SELECT k FROM t WHERE k > 98 AND g NOT IN (SELECT g FROM t WHERE k < 3)",
):
    right = duckdb.execute(query).fetchall()
    got = list(zip(*daft.sql(query, t=t).to_pydict().values()))
    told = f"{len(got)} rows" if len(got) > len(right) + 1 else "two others" if query.startswith("SELECT DISTINCT") and got != right else got
    print(f"{query}\n  daft   {told}\n  DuckDB {right}")
PY
env/bin/python finding.py > seen 2> log || { cat log; exit 1; }

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these versions did when this was written"; exit 1; }
SELECT k FROM t WHERE k < 6 UNION ALL SELECT k FROM t WHERE k > 95 ORDER BY k LIMIT 2
  daft   10 rows
  DuckDB [(1,), (2,)]
SELECT DISTINCT k FROM t ORDER BY k LIMIT 2
  daft   two others
  DuckDB [(1,), (2,)]
SELECT k, sum(k) OVER (PARTITION BY g ORDER BY k) AS r FROM t WHERE k < 4 ORDER BY k
  daft   [(1, 6), (2, 6), (3, 6)]
  DuckDB [(1, 1), (2, 3), (3, 6)]
SELECT k, row_number() OVER (PARTITION BY g ORDER BY k) AS r FROM t WHERE k < 4 ORDER BY k
  daft   [(1, 1), (2, 2), (3, 3)]
  DuckDB [(1, 1), (2, 2), (3, 3)]
SELECT k, sum(k) OVER (PARTITION BY g ORDER BY k ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS r FROM t WHERE k < 4 ORDER BY k
  daft   [(1, 1), (2, 3), (3, 6)]
  DuckDB [(1, 1), (2, 3), (3, 6)]
SELECT -k AS k FROM t ORDER BY k LIMIT 2
  daft   [(-1,), (-2,)]
  DuckDB [(-100,), (-99,)]
SELECT k FROM t WHERE k NOT IN (SELECT i FROM t)
  daft   [(1,)]
  DuckDB []
SELECT k FROM t WHERE k > 98 AND g NOT IN (SELECT g FROM t WHERE k < 3)
  daft   [(99,), (100,)]
  DuckDB [(99,)]
EXPECTED
echo "as described: neither order nor limit"
