#!/usr/bin/env bash
# In AlaSQL SUM(v) OVER (PARTITION BY k) is 0 where v is not selected beside it, and one key has two newest rows.
#
# Expected: a window function has the row's columns, selected or not. Its ORDER BY makes a running sum, or a number in that order,
#   and PARTITION BY collects a key's rows wherever they stand. What is not supported is an error, as LAG() is.
# Seen (alasql 4.19.1 for JavaScript; four rows, of which the third has another key):
#   SUM(v) is 80, 80, 20, 80 with k and v selected, without v 0 in each row, without k the total, 100, in each.
#   The ORDER BY of a window does nothing: a running sum is the total in every row.
#   ROW_NUMBER() OVER (PARTITION BY k ORDER BY t DESC) numbers rows as they stand in the array and begins anew where the key
#     changes, so of key a two rows are 1, and the newest need not be one. An ORDER BY k, t DESC at the query's end makes it right.
# Why it matters: "the newest state of each client" is written with r = 1 and returns old states and clients twice, unless the data
#   happened to lie sorted by client; a share of the total, v / SUM(v) OVER (), changes with a column that is shown. No error in any
#   of them.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for tool in node npm; do command -v $tool >/dev/null || { echo "needs $tool"; exit 1; }; done
npm install --silent --no-fund alasql@4.19.1 > npm.log
cat > finding.js <<'JS'
const alasql = require("alasql");
const rows = [{ t: 3, k: "a", v: 30 }, { t: 1, k: "a", v: 10 }, { t: 2, k: "b", v: 20 }, { t: 4, k: "a", v: 40 }];
const numbered = "SELECT t, k, ROW_NUMBER() OVER (PARTITION BY k ORDER BY t DESC) AS r FROM ?";
for (const sql of [
  "SELECT t, k, v, SUM(v) OVER (PARTITION BY k) AS r FROM ?",
  "SELECT t, k, SUM(v) OVER (PARTITION BY k) AS r FROM ?",
  "SELECT t, v, SUM(v) OVER (PARTITION BY k) AS r FROM ?",
  "SELECT t, COUNT(*) OVER (PARTITION BY k) AS r FROM ?",
  "SELECT t, k, v, SUM(v) OVER (ORDER BY t) AS r FROM ?",
  numbered, numbered + " ORDER BY k, t DESC", `SELECT * FROM (${numbered}) WHERE r = 1`,
]) console.log(`${sql}: ${alasql(sql, [rows]).map((row) => `t=${row.t} ${row.r}`).join(", ")}`);
try { alasql("SELECT t, LAG(v) OVER (ORDER BY t) AS r FROM ?", [rows]); } catch (error) { console.log("LAG():", error.message); }
JS
node finding.js > seen

diff - seen <<'EXPECTED' || { echo "CHANGED: not what these versions did when this was written"; exit 1; }
SELECT t, k, v, SUM(v) OVER (PARTITION BY k) AS r FROM ?: t=3 80, t=1 80, t=2 20, t=4 80
SELECT t, k, SUM(v) OVER (PARTITION BY k) AS r FROM ?: t=3 0, t=1 0, t=2 0, t=4 0
SELECT t, v, SUM(v) OVER (PARTITION BY k) AS r FROM ?: t=3 100, t=1 100, t=2 100, t=4 100
SELECT t, COUNT(*) OVER (PARTITION BY k) AS r FROM ?: t=3 4, t=1 4, t=2 4, t=4 4
SELECT t, k, v, SUM(v) OVER (ORDER BY t) AS r FROM ?: t=3 100, t=1 100, t=2 100, t=4 100
SELECT t, k, ROW_NUMBER() OVER (PARTITION BY k ORDER BY t DESC) AS r FROM ?: t=3 1, t=1 2, t=2 1, t=4 1
SELECT t, k, ROW_NUMBER() OVER (PARTITION BY k ORDER BY t DESC) AS r FROM ? ORDER BY k, t DESC: t=4 1, t=3 2, t=1 3, t=2 1
SELECT * FROM (SELECT t, k, ROW_NUMBER() OVER (PARTITION BY k ORDER BY t DESC) AS r FROM ?) WHERE r = 1: t=3 1, t=2 1, t=4 1
LAG(): alasql.fn.LAG is not a function
EXPECTED
echo "as described: a window has the columns that are shown"
