#!/usr/bin/env bash
# -0.0 is 0 or not: in DataFusion by the file's bloom filter and the length of a list, in ClickHouse and pyarrow by the word that asks.
#
# Expected: SQL has one zero. x = 0, x IN (0), GROUP BY, DISTINCT, joins, CASE and NULLIF agree, and which program wrote a Parquet file, or
#   whether it has a bloom filter, changes no answer. DuckDB 2.0.1, Polars 2.1.0 and pandas 3.1.1 do so.
# Seen, of a row with -0.0:
#   DataFusion 55: x = 0 finds the row in a file without a bloom filter, and not in one that has one (DuckDB writes them unasked, when a
#     value repeats). x IN (0, 5) finds it, x IN (0, 5, 6, 7, 8) does not; NULLIF and CASE x WHEN 0 never do; joins and groups do.
#   ClickHouse (chDB 4.4.0): x = 0 and NULLIF find it, IN and CASE do not; -0.0 and 0.0 are two groups and do not join.
#   pyarrow 26: equal() finds it, is_in() does not; two groups, no join.
# Why it matters: -0.0 is made by rounding (round(-0.4) of a clock's difference, a lag, a rate) and by 0 times a negative number. "No
#   change" rows are then missing from filters and twice in groups, and a table read well until its files were compacted.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
command -v python3 >/dev/null || { echo "needs python3"; exit 1; }
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install pandas==3.1.1 polars==2.1.0 pyarrow==26.0.1 duckdb==2.0.1 chdb==4.4.0 datafusion==55.0.0
env/bin/python - > seen 2> log <<'PY' || { tail -3 log; exit 1; }
import chdb, datafusion, duckdb, pandas, polars
import pyarrow as pa, pyarrow.compute as pc, pyarrow.parquet as pq

small = pa.table({"x": [round(-0.4, 0), 1.5, 2.5]})
pq.write_table(small, "plain.parquet")
pq.write_table(small, "bloom.parquet", bloom_filter_options={"x": True})
duckdb.execute("COPY (SELECT x FROM small, range(2000) WHERE x = 0 OR range < 5) TO 'duckdb.parquet'")
both = pa.table({"x": [-0.0, 0.0]})
pq.write_table(both, "both.parquet")
context = datafusion.SessionContext()
for name in "plain", "bloom", "duckdb", "both":
    context.register_parquet(name, f"{name}.parquet")

def answers(select, name):
    """One number each of DataFusion, ClickHouse, DuckDB."""
    sql = f"SELECT count(*) AS n FROM ({select.replace('TABLE', name)}) AS asked"
    clickhouse = f"SELECT count(*) AS n FROM ({select.replace('TABLE', f'''file('{name}.parquet')''')}) AS asked"
    duck = f"SELECT count(*) AS n FROM ({select.replace('TABLE', f''''{name}.parquet' ''')}) AS asked"
    return context.sql(sql).to_pydict()["n"][0], int(chdb.query(clickhouse).data()), duckdb.execute(duck).fetchone()[0]

print("DataFusion, ClickHouse, DuckDB")
for name in "plain", "bloom", "duckdb":
    print(f"  {name}, x = 0:", *answers("SELECT x FROM TABLE WHERE x = 0", name))
for test in "x IN (0, 5)", "x IN (0, 5, 6, 7, 8)", "NULLIF(x, 0) IS NULL", "CASE x WHEN 0 THEN true ELSE false END":
    print(f"  plain, {test}:", *answers(f"SELECT x FROM TABLE WHERE {test}", "plain"))
print("  -0.0 and 0.0, groups:", *answers("SELECT x FROM TABLE GROUP BY x", "both"))
print("  -0.0 and 0.0, joined rows:", *answers("SELECT a.x FROM TABLE a JOIN TABLE b ON a.x = b.x", "both"))
print("pyarrow, Polars, pandas")
zero, polar, panda = both["x"], polars.from_arrow(both), pandas.DataFrame({"x": [-0.0, 0.0]})
print("  equal to 0.0:", pc.sum(pc.equal(zero, 0.0)), (polar["x"] == 0).sum(), (panda.x == 0).sum())
print("  in [0.0]:", pc.sum(pc.is_in(zero, pa.array([0.0]))), polar["x"].is_in([0.0]).sum(), panda.x.isin([0.0]).sum())
print("  groups:", both.group_by("x").aggregate([]).num_rows, polar.group_by("x").len().height, len(panda.groupby("x").size()))
print("  joined rows:", both.join(both, "x", join_type="inner").num_rows, polar.join(polar, on="x").height, len(panda.merge(panda, on="x")))
PY

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these versions did when this was written"; exit 1; }
DataFusion, ClickHouse, DuckDB
  plain, x = 0: 1 1 1
  bloom, x = 0: 0 1 1
  duckdb, x = 0: 0 2000 2000
  plain, x IN (0, 5): 1 0 1
  plain, x IN (0, 5, 6, 7, 8): 0 0 1
  plain, NULLIF(x, 0) IS NULL: 0 1 1
  plain, CASE x WHEN 0 THEN true ELSE false END: 0 0 1
  -0.0 and 0.0, groups: 1 2 1
  -0.0 and 0.0, joined rows: 4 2 4
pyarrow, Polars, pandas
  equal to 0.0: 2 2 2
  in [0.0]: 1 2 2
  groups: 2 1 1
  joined rows: 2 4 4
EXPECTED
echo "as described: -0.0 is 0 or not"
