#!/usr/bin/env bash
# Bytewax closes windows of event time by the wall clock: a replay that is slower than the events were loses most of them.
#
# Expected: with EventClock the windows follow the events' own times. 100 events in perfect order, one key, are counted in full, be the
#   program fast or slow; wait_for_system_duration is for events that are out of order, so 0 will do.
# Seen (bytewax 0.21.1; events of one second, 10 ms apart, windows of 250 ms): the watermark also moves with the real time that has passed
#   since the newest event was seen, each wait added to the last. A step in front that takes 30 ms for an event makes three of four
#   events late. They go to the stream "late", which nobody has to connect; nothing is raised or logged. A step of 0 ms counts all 100.
#   With a wait of a minute all are counted, until the replay is a minute behind.
# Why it matters: yesterday's topic is read again with a step that asks a database, and counts per window are a quarter of the truth,
#   another quarter with each run. The same flow is right on live events, and in a test without that step.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
command -v python3 >/dev/null || { echo "needs python3"; exit 1; }
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install bytewax==0.21.1
env/bin/python - > seen 2> log <<'PY' || { tail -3 log; exit 1; }
import time
from datetime import datetime, timedelta, timezone

import bytewax.operators as op
from bytewax.dataflow import Dataflow
from bytewax.operators.windowing import EventClock, TumblingWindower, count_window
from bytewax.testing import TestingSink, TestingSource, run_main

BEGIN = datetime(2026, 11, 28, tzinfo=timezone.utc)
EVENTS = [("orders", BEGIN + timedelta(milliseconds=10 * number)) for number in range(100)]


def counted(step, wait):
    def slow(event):
        time.sleep(step)
        return event

    counts, late = [], []
    flow = Dataflow("replay")
    events = op.map("slow", op.input("events", flow, TestingSource(EVENTS, batch_size=1)), slow)
    clock = EventClock(lambda event: event[1], wait_for_system_duration=timedelta(seconds=wait))
    windows = TumblingWindower(length=timedelta(milliseconds=250), align_to=BEGIN)
    out = count_window("count", events, clock, windows, key=lambda event: event[0])
    op.output("counts", out.down, TestingSink(counts))
    op.output("late", out.late, TestingSink(late))
    run_main(flow)
    return sum(count for _, (_, count) in counts), len(late)


for step, wait in (0, 0), (0.03, 0), (0.03, 60):
    count, late = counted(step, wait)
    print(f"{step} s for an event, wait {wait} s: all counted {count == 100}, less than half {count < 50}, all there are {count + late}")
PY

diff - seen <<'EXPECTED' || { echo "CHANGED: not what bytewax 0.21.1 did when this was written"; exit 1; }
0 s for an event, wait 0 s: all counted True, less than half False, all there are 100
0.03 s for an event, wait 0 s: all counted False, less than half True, all there are 100
0.03 s for an event, wait 60 s: all counted True, less than half False, all there are 100
EXPECTED
echo "as described: a slow replay loses events of the past"
