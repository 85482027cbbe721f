#!/usr/bin/env bash
# A latency that DuckDB writes to Parquet, end - start, is cut to milliseconds: 900 us is nothing, and one clock difference stops the copy.
#
# Expected: the difference of two TIMESTAMPs has microseconds, as they have, and COPY to Parquet and back gives what was written, as it
#   does for times, decimals and structs. What Parquet cannot hold is told. An order by the column is the same before and after.
# Seen (DuckDB 2.0.1): an INTERVAL is written as Parquet's old type of that name, which counts milliseconds: of 250 us, 900 us and 1.999 ms
#   it has 0, 0 and 1 ms, and the mean falls from 1.05 to 0.33 ms. CREATE TABLE keeps all of them, to Arrow and pandas go all of them. A
#   negative one (a reply before its request, by two hosts' clocks) is an error that ends the whole copy. pyarrow 26 and ClickHouse (chDB
#   4.4.0) see 12 bytes. The sum of a BIGINT column, a HUGEINT, is a DOUBLE in the file: 2^53 + 1 loses its last digit there.
# Why it matters: brokers on one host answer within a millisecond, so a file of latencies is half zeros, which looks like a coarse clock.
#   epoch_us(end - start), or the two moments, is what to write.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
command -v python3 >/dev/null || { echo "needs python3"; exit 1; }
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install duckdb==2.0.1 chdb==4.4.0 pyarrow==26.0.1 pandas==3.1.1
env/bin/python -W ignore - > seen 2> log <<'PY' || { tail -3 log; exit 1; }
import chdb
import duckdb
import pyarrow.parquet


def told(name, rows):
    print(f"{name}: " + ", ".join(str(value) for row in rows for value in row))


duckdb.sql("""CREATE TABLE requests AS SELECT TIMESTAMP '2026-11-28 10:00:00' AS start,
    start + to_microseconds(unnest([250, 900, 1999])) AS "end", "end" - start AS latency""")
duckdb.sql("COPY requests TO 'requests.parquet'")
for source in "requests", "'requests.parquet'":
    told(source, duckdb.sql(f"SELECT latency FROM {source} ORDER BY start, \"end\"").fetchall())
    told("  mean, us", duckdb.sql(f"SELECT round(avg(epoch_us(latency))) FROM {source}").fetchall())
told("of the file's moments, us", duckdb.sql("SELECT epoch_us(\"end\" - start) FROM 'requests.parquet' ORDER BY 1").fetchall())
told("to pandas", [duckdb.sql("SELECT latency FROM requests ORDER BY 1").df().latency.tolist()])
print("to Arrow:", duckdb.sql("SELECT latency FROM requests ORDER BY 1").arrow().read_all()["latency"].to_pylist()[0].nanoseconds, "ns")
print("pyarrow:", pyarrow.parquet.read_schema("requests.parquet").field("latency").type)
print("ClickHouse:", chdb.query("SELECT toTypeName(latency) FROM file('requests.parquet') LIMIT 1").data().strip())
try:
    duckdb.sql("COPY (SELECT start - \"end\" AS latency FROM requests UNION ALL SELECT latency FROM requests) TO 'negative.parquet'")
except duckdb.Error as error:
    print(str(error).splitlines()[0])
duckdb.sql("COPY (SELECT sum(id) AS total, max(id) AS largest FROM (SELECT 9007199254740993 AS id)) TO 'ids.parquet'")
for column in pyarrow.parquet.read_table("ids.parquet").columns:
    print(column.type, column[0])
PY

diff - seen <<'EXPECTED' || { cat log; echo "CHANGED: not what DuckDB 2.0.1 did when this was written"; exit 1; }
requests: 0:00:00.000250, 0:00:00.000900, 0:00:00.001999
  mean, us: 1050.0
'requests.parquet': 0:00:00, 0:00:00, 0:00:00.001000
  mean, us: 333.0
of the file's moments, us: 250, 900, 1999
to pandas: 0 days 00:00:00.000250, 0 days 00:00:00.000900, 0 days 00:00:00.001999
to Arrow: 250000 ns
pyarrow: fixed_size_binary[12]
ClickHouse: "FixedString(12)"
IO Error: Parquet files do not support negative intervals
double 9007199254740992.0
int64 9007199254740993
EXPECTED
echo "as described: intervals are cut to milliseconds in Parquet"
