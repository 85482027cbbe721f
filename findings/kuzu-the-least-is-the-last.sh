#!/usr/bin/env bash
# Kuzu: the least of 1, NaN and 3 is 3, or NaN, by their order; date_trunc('week') does nothing, and each week has the number 0.
#
# Expected: min() and max() of one set are the same in any order of its rows; the week of a Friday begins on Monday, as in the
#   engines whose functions Kuzu has (DuckDB, PostgreSQL).
# Seen (kuzu 0.11.3 for Python):
#   A NaN replaces or is replaced by whatever is beside it: min of 1, NaN, 3 is 3.0, of 1, 3, NaN it is NaN, of NaN, 1, 3 it is
#     1.0 with a max of NaN.
#   date_trunc('week', d) is d itself for dates, the day at midnight for timestamps; date_part('week', d) is 0 for all (known for
#     a fork of Kuzu, which has mended it).
#   NOT x IN [1, null] holds for 2, and 1 IN [null] is false, where = and AND know null. A sum over a list of int32 wraps,
#     sum() does not. A cast to TIMESTAMP_SEC makes 1970 of half a second before it, and cuts later ones.
# Why it matters: the shortest latency of a table with one rate of 0 / 0 depends on the order of its rows, which a graph does not
#   keep; "events by week" is one by day. Nothing is raised.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
command -v python3 >/dev/null || { echo "needs python3"; exit 1; }
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install kuzu==0.11.3
cat > finding.py <<'PY'
import itertools

import kuzu

graph = kuzu.Connection(kuzu.Database(":memory:"))


def ask(question: str) -> list:
    return [value.isoformat() if hasattr(value, "isoformat") else value for value in graph.execute(question).get_next()]


for order in itertools.permutations(("1.0", "NaN", "3.0")):
    values = ", ".join("cast('NaN' AS DOUBLE)" if n == "NaN" else n for n in order)
    print(*order, "-> min, max:", *ask(f"UNWIND [{values}] AS n RETURN min(n), max(n)"))
for day in ("2026-12-28", "2027-01-01", "2027-01-04"):
    print(day, "-> week:", *ask(f"RETURN date_trunc('week', date('{day}')), date_trunc('week', timestamp('{day} 10:00:00')), date_part('week', date('{day}')), dayname(date('{day}'))"))
print("1 IN [null], NOT 2 IN [1, null], 1 = null OR false:", *ask("RETURN 1 IN [null], NOT 2 IN [1, null], 1 = null OR false"))
numbers = "[cast(2000000000 AS INT32), cast(2000000000 AS INT32)]"
print("sum of a list, of rows:", *ask(f"RETURN list_sum({numbers})"), *ask(f"UNWIND {numbers} AS n RETURN cast(sum(n) AS INT64)"))
print("seconds:", *ask("RETURN cast(timestamp('1969-12-31 23:59:59.5') AS TIMESTAMP_SEC), cast(timestamp('2026-01-01 23:59:59.5') AS TIMESTAMP_SEC)"))
PY
timeout 120 env/bin/python finding.py > seen

diff - seen <<'EXPECTED' || { echo "CHANGED: not what Kuzu 0.11.3 did when this was written"; exit 1; }
1.0 NaN 3.0 -> min, max: 3.0 3.0
1.0 3.0 NaN -> min, max: nan 3.0
NaN 1.0 3.0 -> min, max: 1.0 nan
NaN 3.0 1.0 -> min, max: 1.0 nan
3.0 1.0 NaN -> min, max: nan 3.0
3.0 NaN 1.0 -> min, max: 1.0 3.0
2026-12-28 -> week: 2026-12-28 2026-12-28T00:00:00 0 Monday
2027-01-01 -> week: 2027-01-01 2027-01-01T00:00:00 0 Friday
2027-01-04 -> week: 2027-01-04 2027-01-04T00:00:00 0 Monday
1 IN [null], NOT 2 IN [1, null], 1 = null OR false: False True None
sum of a list, of rows: -294967296 4000000000
seconds: 1970-01-01T00:00:00 2026-01-01T23:59:59
EXPECTED
echo "as described: the least is the last"
