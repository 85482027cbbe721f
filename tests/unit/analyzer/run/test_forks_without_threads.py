"""A fork of a process with threads may hang: ours has none when it forks. (From Python 3.12 on the interpreter warns of it.)

Where another dataset is open, as in `diff`, the second capture is read by new interpreters instead. (The reader of `watch` forks
beside the thread that empties a pipe: `analyzer/watch/reader_process.py` says why that may be.)
"""

from __future__ import annotations

import subprocess
import sys

import pytest
from paths import SAMPLES

# Every capture counts as a large one, and each fork tells what threads there are, by the kernel's names: the interpreter's main
# thread, and the one of Arrow's allocator, which takes care of forks.
COUNTED = """
import os, sys
from analyzer.run import strategy
from analyzer.cli.main import run
strategy.SMALL_CAPTURE_BYTES = 0
fork = os.fork
def counted():
    names = [open(f"/proc/self/task/{task}/comm").read().strip() for task in os.listdir("/proc/self/task")]
    names = [name for name in names if name != "jemalloc_bg_thd"]
    os.write(2, b"forks with %d\\n" % len(names))
    return fork()
os.fork = counted
run()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="threads are counted in /proc")
@pytest.mark.parametrize(
    ("arguments", "times"),
    [("report --jobs 3 CAPTURE", 2), ("diff --jobs 3 CAPTURE CAPTURE", 2)],
    ids=["report", "diff"],
)
def test_each_verb(arguments: str, times: int) -> None:
    capture = SAMPLES / "throttle.pcap.zst"
    command = [sys.executable, "-c", COUNTED, *arguments.replace("CAPTURE", str(capture)).split()]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=100)
    assert [line for line in done.stderr.splitlines() if line.startswith("forks")] == ["forks with 1"] * times
