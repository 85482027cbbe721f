"""What a thread frees stays with the process where the C library can be told so."""

from __future__ import annotations

import ctypes
import platform
import subprocess
import sys

import pytest

from analyzer.base import memory

# Page faults of a thread that takes and frees some MB again and again.
_FAULTS = """
import resource, threading
from analyzer.base.memory import keep_freed_memory
def rounds():
    for _ in range(40):
        taken = [bytes(4_000) for _ in range(2_000)]
        del taken
if {keep}:
    keep_freed_memory()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
thread = threading.Thread(target=rounds)
thread.start()
thread.join()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


# The same of a process that takes and frees pieces of some MB.
_PIECES = """
import resource
from analyzer.base.memory import keep_freed_memory
if {keep}:
    keep_freed_memory()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(40):
    taken = [bytearray(b"x" * (4 << 20)) for _ in range(4)]
    del taken
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(program: str, keep: bool) -> int:
    code = program.format(keep=keep)
    return int(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc is told")
@pytest.mark.parametrize("program", [_FAULTS, _PIECES], ids=["thread", "pieces"])
def test_what_was_freed_stays(program: str) -> None:
    assert faults(program, keep=True) * 3 < faults(program, keep=False)


@pytest.mark.parametrize("missing", [OSError("no such library"), AttributeError("mallopt")])
def test_a_library_that_cannot_be_told(missing: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def library(_: None) -> None:
        raise missing

    monkeypatch.setattr(ctypes, "CDLL", library)
    memory.keep_freed_memory()
