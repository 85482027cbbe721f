#!/usr/bin/env bash
# Beam for Python: 1, 1.0 and True are three keys to GroupByKey and one key to CombinePerKey, Count and Distinct; -0.0 and 0.0
#   too.
#
# Expected: CombinePerKey(sum) is GroupByKey and a sum of each group, as its documentation says; both have the same keys.
# Seen (apache-beam 2.77.0, the local runner that a pipeline has by default):
#   GroupByKey and CoGroupByKey compare keys by their encoded bytes: 1, 1.0 and True are three groups, 0.0 and -0.0 two, and every
#   NaN is in one. CombinePerKey and Count first put them in a Python dict, where 1 == 1.0 == True and 0.0 == -0.0: one key, which
#   bears the name of whichever came first. GroupBy with aggregate_field(), a CombinePerKey inside, sums them too; without it,
#   they are apart. A join by CoGroupByKey finds no partner of 1 for 1.0, and as a side input by AsDict it does.
# Why it matters: ids that one producer writes as 1 and another as 1.0 (JSON of JavaScript and of Python), and rounded latencies
#   below zero, add up in the counts and are separate in the groups beside them, so percentages by key are wrong. No warning.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
command -v python3 >/dev/null || { echo "needs python3"; exit 1; }
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install apache-beam==2.77.0
cat > finding.py <<'PY'
import logging

import apache_beam as beam
from apache_beam.testing.util import assert_that

logging.disable(logging.WARNING)
events = [(1, "a"), (1.0, "b"), (True, "c"), (0.0, "d"), (-0.0, "e")]


def show(name: str, build) -> None:
    with beam.Pipeline() as pipeline:
        assert_that(build(pipeline), lambda rows: print(f"{name}:", *sorted(rows, key=str)))


show("GroupByKey", lambda p: p | beam.Create(events) | beam.GroupByKey())
show("GroupByKey, then counted", lambda p: p | beam.Create(events) | beam.GroupByKey() | beam.MapTuple(lambda k, v: (k, len(v))))
show("Count.PerKey", lambda p: p | beam.Create(events) | beam.combiners.Count.PerKey())
show("CombinePerKey", lambda p: p | beam.Create([(key, 1) for key, _ in events]) | beam.CombinePerKey(sum))
show("Distinct", lambda p: p | beam.Create([key for key, _ in events]) | beam.Distinct())
rows = [beam.Row(key=key, n=1) for key, _ in events]
show("GroupBy", lambda p: p | beam.Create(rows) | beam.GroupBy("key") | beam.MapTuple(lambda key, group: (key.key if hasattr(key, "key") else key, len(list(group)))))
show("GroupBy with a sum", lambda p: p | beam.Create(rows) | beam.GroupBy("key").aggregate_field("n", sum, "n") | beam.Map(tuple))
show("CoGroupByKey", lambda p: (p | "l" >> beam.Create([(1, "left")]), p | "r" >> beam.Create([(1.0, "right")])) | beam.CoGroupByKey())
show("AsDict", lambda p: p | "l" >> beam.Create([1]) | beam.Map(
    lambda key, names: (key, names.get(key)), beam.pvalue.AsDict(p | "r" >> beam.Create([(1.0, "right")]))))
PY
timeout 300 env/bin/python finding.py > seen 2> log || { tail -5 log; exit 1; }

diff - seen <<'EXPECTED' || { echo "CHANGED: not what Beam 2.77.0 did when this was written"; exit 1; }
GroupByKey: (-0.0, ['e']) (0.0, ['d']) (1, ['a']) (1.0, ['b']) (True, ['c'])
GroupByKey, then counted: (-0.0, 1) (0.0, 1) (1, 1) (1.0, 1) (True, 1)
Count.PerKey: (0.0, 2) (1, 3)
CombinePerKey: (0.0, 2) (1, 3)
Distinct: 0.0 1
GroupBy: (-0.0, 1) (0.0, 1) (1, 1) (1.0, 1) (True, 1)
GroupBy with a sum: (0.0, 2) (1, 3)
CoGroupByKey: (1, (['left'], [])) (1.0, ([], ['right']))
AsDict: (1, 'right')
EXPECTED
echo "as described: one key or three"
