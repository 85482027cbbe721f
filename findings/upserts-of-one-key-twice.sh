#!/usr/bin/env bash
# A batch that has one key twice: DuckDB's INSERT OR REPLACE keeps the first of the two, and three tables insert both where the key is new.
#
# Expected: records of one batch are applied in their order, as one statement each would: the last wins, as in SQLite. Or the batch is
#   refused, as PostgreSQL refuses it ("cannot affect row a second time"), whether the key is new or not.
# Seen, of a batch with 10, 11, 12 of one key:
#   DuckDB 2.0.1 with INSERT OR REPLACE and ON CONFLICT DO UPDATE has 10, and v = t.v + excluded.v adds 10 only. MERGE and UPDATE FROM take
#     10 here as well. SQLite has 12, and 1 + 33.
#   MERGE of DuckDB (a table without a key), deltalake 1.6.6 and Lance (pylance 14.0.2) insert a new key's three rows. A second batch
#     then updates all three. For a key that is there deltalake and Lance raise; so the same batch fails or triples by what came before.
# Why it matters: this is how a topic's records go into a table, batch by batch: a key that changes twice within a batch is stale in
#   one table and there three times in another. In small batches, and in tests with one record a key, all is right.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
command -v python3 >/dev/null || { echo "needs python3"; exit 1; }
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install duckdb==2.0.1 deltalake==1.6.6 pylance==14.0.2 pyarrow==26.0.1
env/bin/python -W ignore - > seen 2> log <<'PY' || { tail -3 log; exit 1; }
import sqlite3
import tempfile

import duckdb
import lance
import pyarrow
from deltalake import DeltaTable, write_deltalake

KNOWN = pyarrow.table({"k": ["a"], "v": [1]})
TWICE = {key: pyarrow.table({"k": [key] * 3, "v": [10, 11, 12]}) for key in "ab"}
VALUES = "VALUES ('{0}', 10), ('{0}', 11), ('{0}', 12)"
MERGE = f"MERGE INTO t USING ({VALUES}) s(k, v) ON t.k = s.k WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT VALUES (s.k, s.v)"


def sql(engine, statement, key, constraint="PRIMARY KEY"):
    connection = engine.connect(":memory:")
    for text in f"CREATE TABLE t (k VARCHAR {constraint}, v BIGINT)", "INSERT INTO t VALUES ('a', 1)", statement.format(key):
        connection.execute(text)
    return connection.execute(f"SELECT v FROM t WHERE k = '{key}' ORDER BY v").fetchall()


def delta(key):
    write_deltalake(name := tempfile.mkdtemp(dir="."), KNOWN)
    merge = DeltaTable(name).merge(TWICE[key], "t.k = s.k", source_alias="s", target_alias="t")
    merge.when_matched_update_all().when_not_matched_insert_all().execute()
    return [(row["v"],) for row in DeltaTable(name).to_pyarrow_table().sort_by("v").to_pylist() if row["k"] == key]


def lances(key):
    data = lance.write_dataset(KNOWN, tempfile.mkdtemp(dir=".") + "/t")
    data.merge_insert("k").when_matched_update_all().when_not_matched_insert_all().execute(TWICE[key])
    return [(row["v"],) for row in lance.dataset(data.uri).to_table().sort_by("v").to_pylist() if row["k"] == key]


WAYS = {
    "SQLite INSERT OR REPLACE": lambda key: sql(sqlite3, "INSERT OR REPLACE INTO t " + VALUES, key),
    "DuckDB INSERT OR REPLACE": lambda key: sql(duckdb, "INSERT OR REPLACE INTO t " + VALUES, key),
    "SQLite adds": lambda key: sql(sqlite3, f"INSERT INTO t {VALUES} ON CONFLICT (k) DO UPDATE SET v = t.v + excluded.v", key),
    "DuckDB adds": lambda key: sql(duckdb, f"INSERT INTO t {VALUES} ON CONFLICT (k) DO UPDATE SET v = t.v + excluded.v", key),
    "DuckDB UPDATE FROM": lambda key: sql(duckdb, f"UPDATE t SET v = s.v FROM ({VALUES}) s(k, v) WHERE s.k = t.k", key),
    "DuckDB MERGE": lambda key: sql(duckdb, MERGE, key, constraint=""),
    "deltalake merge": delta, "Lance merge_insert": lances,
}
for key, name in ("a", "known key"), ("b", "new key"):
    for way, ask in WAYS.items():
        try:
            print(f"{name}, {way}:", *(v for v, in ask(key)))
        except Exception as error:
            print(f"{name}, {way}: {type(error).__name__}")
PY

diff - seen <<'EXPECTED' || { cat log; echo "CHANGED: not what these versions did when this was written"; exit 1; }
known key, SQLite INSERT OR REPLACE: 12
known key, DuckDB INSERT OR REPLACE: 10
known key, SQLite adds: 34
known key, DuckDB adds: 11
known key, DuckDB UPDATE FROM: 10
known key, DuckDB MERGE: 10
known key, deltalake merge: DeltaError
known key, Lance merge_insert: OSError
new key, SQLite INSERT OR REPLACE: 12
new key, DuckDB INSERT OR REPLACE: 10
new key, SQLite adds: 33
new key, DuckDB adds: 10
new key, DuckDB UPDATE FROM:
new key, DuckDB MERGE: 10 11 12
new key, deltalake merge: 10 11 12
new key, Lance merge_insert: 10 11 12
EXPECTED
echo "as described: the first, the last or all of a key's records"
