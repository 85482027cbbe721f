"""Fuzzing guided by coverage (atheris): inputs that reach new lines of Python are kept and changed further.

    python tests/system/fuzz/guided.py TARGET [libFuzzer's own options: -max_total_time=60, -runs=0, FOLDER ...]

It sees Python alone, so the stages run as plain Python: `make fuzz` and `make fuzz-asan` are for those that are compiled. An input
that breaks a law is written to build/fuzz; new ones that reach more to build/fuzz/TARGET. tests/data/fuzz/TARGET keeps a small
set that reaches the same lines (`-use_counters=0 -set_cover_merge=1 tests/data/fuzz/TARGET build/fuzz/TARGET`), and
`test_guided.py` runs it each time.
"""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path

# Before anything of the stages is imported.
os.environ["KANALYZE_UNCOMPILED"] = "1"
ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "support")]

import atheris  # noqa: E402

# Its finder of plain files stands before all others, so atheris has to come before it.
import dissectors  # noqa: E402, F401

with atheris.instrument_imports(include=["dissectors", "analyzer.base", "analyzer.query.manifest", "analyzer.redact"]):
    from guided_targets import MOST_BYTES, TARGETS, run

CORPUS = ROOT / "tests" / "data" / "fuzz"
KEPT = ROOT / "build" / "fuzz"


def main() -> None:
    if sys.argv[1:2] == [] or sys.argv[1] not in TARGETS:
        sys.exit(f"say which: {', '.join(TARGETS)}")
    name, words = sys.argv[1], sys.argv[2:]
    found = KEPT / name
    found.mkdir(parents=True, exist_ok=True)
    folders = [] if any("merge=" in word for word in words) else [str(found), str(CORPUS / name)]
    options = [f"-max_len={MOST_BYTES}", f"-artifact_prefix={KEPT}/", "-timeout=20"]
    # To merge, libFuzzer starts this again through a shell, by its first word.
    again = f"{sys.executable} {sys.argv[0]} {name}"
    atheris.Setup([again, *options, *words, *folders], partial(run, name))
    atheris.Fuzz()


if __name__ == "__main__":
    main()
