#!/usr/bin/env bash
# Sail runs Spark's SQL and gives other numbers: p60 of 10, 20, 1000 is 168, bround(2.5) is 3, 23 hours are a day, an overflow is
#   negative.
#
# Expected: Sail is offered as a drop-in replacement for Spark: the same queries give the same rows, and what it does not have is an
#   error.
# Seen (pysail 0.7.2 with pyspark-client 4.2.0, beside Spark 4.3.0, both with their defaults):
#   percentile_approx() of integers is one of them in Spark; Sail interpolates: p60 of 10, 20, 1000 is 168.5, a double.
#   bround(), which is there for rounding half to even, and rint() round 2.5 to 3.
#   i + i of an INT and SUM of a BIGINT end the query in Spark where they overflow (ARITHMETIC_OVERFLOW); Sail wraps. It does end
#     queries for a cast of 300 to TINYINT and for 1 / 0. try_subtract(), whose purpose is null, returns what an INT cannot hold.
#   timestamp_seconds(1.5) loses the half; timestampdiff(DAY) of 23 hours is 1; the second before 1970 is second 0.
#   left(s, -1) is all but the last character, "" in Spark; a third of 0.05 is 0.016666 in place of 0.016667.
# Why it matters: one tries it with sums, counts and joins, which are the same, and moves jobs over for their speed. Percentiles,
#   bounds of days and large sums then differ from last month's by something that looks like the data.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for tool in java python3; do command -v $tool >/dev/null || { echo "needs $tool"; exit 1; }; done
python3 -m venv sail && sail/bin/pip -q --disable-pip-version-check install pysail==0.7.2 pyspark-client==4.2.0
python3 -m venv spark && spark/bin/pip -q --disable-pip-version-check install pyspark==4.3.0
cat > finding.py <<'PY'
import sys

from pyspark.sql import SparkSession

if sys.argv[1] == "Sail":
    from pysail.spark import SparkConnectServer

    server = SparkConnectServer("127.0.0.1", 0)
    server.start(background=True)
    session = SparkSession.builder.remote(f"sc://127.0.0.1:{server.listening_address[1]}").getOrCreate()
else:
    session = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").config("spark.sql.session.timeZone", "UTC").getOrCreate()
rows = "FROM VALUES (10, 2000000000, 9223372036854775807), (20, 2000000000, 1), (1000, 2000000000, 1) AS t(k, i, l)"
for query in (
    f"SELECT count(*), sum(k), avg(k), max(k) {rows}",
    f"SELECT percentile_approx(k, 0.6) {rows}",
    f"SELECT percentile_approx(k, 0.5) {rows}",
    "SELECT bround(2.5), bround(3.5), rint(2.5D), round(2.5D)",
    f"SELECT max(i + i) {rows}",
    f"SELECT sum(l) {rows}",
    "SELECT CAST(300 AS TINYINT)",
    "SELECT try_subtract(-2147483648, 1)",
    "SELECT timestamp_seconds(1.5)",
    "SELECT timestampdiff(DAY, timestamp'2026-01-31 10:00:00', timestamp'2026-02-01 09:00:00')",
    "SELECT unix_seconds(timestamp'1969-12-31 23:59:59.5')",
    "SELECT left('abc', -1)",
    "SELECT CAST(0.05 AS DECIMAL(9, 2)) / 3",
):
    try:
        told = ", ".join(str(cell) for cell in session.sql(query).collect()[0])
    except Exception:
        told = "error"
    print(f"{query.replace(rows, 'FROM t')}: {sys.argv[1]} {told}")
PY
TZ=UTC sail/bin/python finding.py Sail 2> log > one || { cat log; exit 1; }
TZ=UTC spark/bin/python finding.py Spark 2> log > two || { cat log; exit 1; }
paste -d '\n' one two | sed 'n;s/.*: Spark/  Spark/' > seen

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these versions did when this was written"; exit 1; }
SELECT count(*), sum(k), avg(k), max(k) FROM t: Sail 3, 1030, 343.3333333333333, 1000
  Spark 3, 1030, 343.3333333333333, 1000
SELECT percentile_approx(k, 0.6) FROM t: Sail 168.49999999999991
  Spark 20
SELECT percentile_approx(k, 0.5) FROM t: Sail 20.0
  Spark 20
SELECT bround(2.5), bround(3.5), rint(2.5D), round(2.5D): Sail 3.0, 4.0, 3.0, 3.0
  Spark 2, 4, 2.0, 3.0
SELECT max(i + i) FROM t: Sail -294967296
  Spark error
SELECT sum(l) FROM t: Sail -9223372036854775807
  Spark error
SELECT CAST(300 AS TINYINT): Sail error
  Spark error
SELECT try_subtract(-2147483648, 1): Sail -2147483649
  Spark None
SELECT timestamp_seconds(1.5): Sail 1970-01-01 00:00:01
  Spark 1970-01-01 00:00:01.500000
SELECT timestampdiff(DAY, timestamp'2026-01-31 10:00:00', timestamp'2026-02-01 09:00:00'): Sail 1
  Spark 0
SELECT unix_seconds(timestamp'1969-12-31 23:59:59.5'): Sail 0
  Spark -1
SELECT left('abc', -1): Sail ab
  Spark 
SELECT CAST(0.05 AS DECIMAL(9, 2)) / 3: Sail 0.016666
  Spark 0.016667
EXPECTED
echo "as described: other numbers than Spark's"
