#!/usr/bin/env bash
# SQLFrame, Spark's data frames on DuckDB: 0.7 s past ten is a second past ten, and a null comes last in the order of a window.
#
# Expected: what PySpark answers, as SQLFrame takes PySpark's programs and translates them; what an engine cannot do, it says, as
#   it does for the limit of split().
# Seen (sqlframe 4.10.0 on DuckDB 1.5.0, beside pyspark 4.3.0), without a word:
#   unix_timestamp() and unix_millis() round to the second, so that .700 is the next one; date_format() writes the letters SSS.
#   A window's orderBy("n") has null at its end, where Spark and SQLFrame's own orderBy("n") have it first: running sums, lag()
#   and rank() of other rows are other numbers. collect_list() keeps null. A cast to int rounds, 1.9 is 2, where Spark cuts.
#   sequence(3, 1) is empty, substring("abc", 0, 2) is "a".
# Why it matters: it is used to test and to run Spark's pipelines without Spark; half of all events move to the next second, and
#   the pipeline has other sums in production than in its tests.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for tool in java python3; do command -v $tool >/dev/null || { echo "needs $tool"; exit 1; }; done
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install sqlframe==4.10.0 duckdb==1.5.0 pyspark==4.3.0
cat > finding.py <<'PY'
import sys

if sys.argv[1] == "Spark":
    from pyspark.sql import SparkSession, Window, functions as F
    session = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
else:
    from sqlframe.duckdb import DuckDBSession, Window, functions as F
    session = DuckDBSession.builder.getOrCreate()
rows = session.createDataFrame([("a", 2, 10.0), ("a", None, 20.0), ("a", 1, 30.0)], ["k", "n", "ms"])
one = session.createDataFrame([(1.9,)], ["x"])
ten, later = (F.to_timestamp(F.lit(f"2026-01-01 10:00:00.{digits}")) for digits in ("000", "700"))
window = Window.partitionBy("k").orderBy("n")


def show(name, frame):
    print(f"{sys.argv[1]}, {name}:", *(row[0] if len(row) == 1 else tuple(row) for row in frame.collect()))


show("unix_timestamp .700 - .000", one.select(F.unix_timestamp(later) - F.unix_timestamp(ten)))
show("unix_millis .700 - .000", one.select(F.unix_millis(later) - F.unix_millis(ten)))
show("date_format", one.select(F.date_format(later, "HH:mm:ss.SSS")))
show("1.9 as int", one.select(F.col("x").cast("int")))
show("collect_list", rows.groupBy("k").agg(F.sort_array(F.collect_list("n")).alias("v")).select("v"))
show("orderBy", rows.orderBy("n").select("n"))
show("running sum", rows.select("n", F.sum("ms").over(window).alias("v")).orderBy("n"))
show("lag", rows.select("n", F.lag("ms").over(window).alias("v")).orderBy("n"))
show("sequence(3, 1)", one.select(F.sequence(F.lit(3), F.lit(1))))
show("substring", one.select(F.substring(F.lit("abc"), 0, 2)))
PY
export TZ=UTC SPARK_LOCAL_IP=127.0.0.1
for engine in Spark SQLFrame; do timeout 200 env/bin/python finding.py $engine 2> log || { tail -5 log; exit 1; }; done > seen

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these versions did when this was written"; exit 1; }
Spark, unix_timestamp .700 - .000: 0
Spark, unix_millis .700 - .000: 700
Spark, date_format: 10:00:00.700
Spark, 1.9 as int: 1
Spark, collect_list: [1, 2]
Spark, orderBy: None 1 2
Spark, running sum: (None, 20.0) (1, 50.0) (2, 60.0)
Spark, lag: (None, None) (1, 20.0) (2, 30.0)
Spark, sequence(3, 1): [3, 2, 1]
Spark, substring: ab
SQLFrame, unix_timestamp .700 - .000: 1
SQLFrame, unix_millis .700 - .000: 1000
SQLFrame, date_format: 10:00:00.SSS
SQLFrame, 1.9 as int: 2
SQLFrame, collect_list: [None, 1, 2]
SQLFrame, orderBy: None 1 2
SQLFrame, running sum: (None, 60.0) (1, 30.0) (2, 40.0)
SQLFrame, lag: (None, 10.0) (1, None) (2, 30.0)
SQLFrame, sequence(3, 1): []
SQLFrame, substring: a
EXPECTED
echo "as described: not quite Spark"
