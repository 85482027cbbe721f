#!/usr/bin/env bash
# Faust's tumbling window of 2.5 s counts one event in five twice: starts are cut to whole seconds, half a second is an error.
#
# Expected: each event lies in one tumbling window, and in size / step hopping ones, also where the size is 2.5 s: the API takes
#   numbers with a fraction and timedeltas, and keeps them (window.size is 2.5).
# Seen: faust-streaming 0.15.3 walks over the windows of an event (ranges(), which tables write to) with int(start) and int(step).
#   Of 2500 events, one each 10 ms, tumbling windows of 2.5 s hold 3250 altogether, windows of 1.5 s 3800; current(), by which a
#   table is read, knows 10 windows without an overlap where 15 are written. Hopping windows of 10 s each 2.5 s are up to 6 for an
#   event instead of 4. A window of 0.5 s is "range() arg 3 must not be zero" at the first event. With whole seconds all is right.
#   earliest() of a sliding window is 50 s off here, in the compiled build alone, where it takes a 32-bit float.
# Why it matters: sums over windows exceed the number of events by a share that depends on the size. Nothing fails, and tests with
#   windows of 10 s, or with one event each second, do not see it.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
command -v python3 >/dev/null || { echo "needs python3"; exit 1; }
python3 -m venv env
env/bin/pip -q --disable-pip-version-check install faust-streaming==0.15.3
cat > finding.py <<'PY'
from datetime import timedelta

from faust.windows import HoppingWindow, SlidingWindow, TumblingWindow

NOW = 1_700_000_000
EVENTS = [NOW + number / 100 for number in range(2500)]  # 25 s
for size in (5, 2.5, timedelta(seconds=2.5), 1.5, 0.5):
    window = TumblingWindow(size)
    try:
        ranges = [window.ranges(event) for event in EVENTS]
        read = len({window.current(event) for event in EVENTS})
        written = len(set(sum(ranges, [])))
        print(f"tumbling {size}: {sum(map(len, ranges))} in {written} windows, {read} by current()")
    except ValueError as error:
        print(f"tumbling {size}: {error}")
for step in (5, 2.5):
    print(f"hopping 10 each {step}:", *sorted({len(HoppingWindow(10, step).ranges(event)) for event in EVENTS}), "windows an event")
sliding = SlidingWindow(before=5, after=5, expires=60)
print("sliding:", *(int(asked(NOW + 50)[0]) - NOW for asked in (sliding.current, sliding.earliest)), "by current() and earliest()")
PY
for compiled in "" 1; do NO_CYTHON=$compiled env/bin/python finding.py > seen$compiled 2> log || { tail -3 log; exit 1; }; done
{ cat seen; echo "not compiled:"; diff seen seen1 | grep '^>' || true; } > all

diff - all <<'EXPECTED' || { echo "CHANGED: not what faust-streaming 0.15.3 did when this was written"; exit 1; }
tumbling 5: 2500 in 5 windows, 5 by current()
tumbling 2.5: 3250 in 15 windows, 10 by current()
tumbling 0:00:02.500000: 3250 in 15 windows, 10 by current()
tumbling 1.5: 3800 in 26 windows, 17 by current()
tumbling 0.5: range() arg 3 must not be zero
hopping 10 each 5: 2 windows an event
hopping 10 each 2.5: 4 5 6 windows an event
sliding: 45 -5 by current() and earliest()
not compiled:
> sliding: 45 45 by current() and earliest()
EXPECTED
echo "as described: windows of 2.5 s overlap"
