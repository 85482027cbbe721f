"""What a bench found, as a table: printed, and appended to `results.md` under the day, the commit and the machine."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results.md"


def append(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Adds a section; the first column of a row is a name, the others are numbers."""
    head = [f"| {' | '.join(columns)} |", f"|{'|'.join(['---', *['--:'] * (len(columns) - 1)])}|"]
    table = "\n".join([*head, *(f"| {' | '.join(row)} |" for row in rows)])
    section = f"\n## {datetime.now(UTC):%Y-%m-%d}, {title}, {commit()}\n\n{machine()}.\n\n{table}\n"
    with RESULTS.open("a", encoding="utf-8") as file:
        file.write(section)
    print(section)


def commit() -> str:
    """The commit that was measured."""
    asked = ["git", "-C", str(ROOT), "describe", "--always", "--exclude=*", "--abbrev=10"]
    found = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
    changed = ["git", "-C", str(ROOT), "status", "--porcelain", "--untracked-files=no", "analyzer", "dissectors"]
    changes = subprocess.run(changed, capture_output=True, text=True, check=False).stdout
    return f"commit {found or 'unknown'}{' and changes' if changes else ''}"


def machine() -> str:
    """Processor and cores; no name of a host."""
    model = platform.machine()
    information = Path("/proc/cpuinfo")
    if information.exists():
        lines = information.read_text().splitlines()
        model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), model)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return f"{model}, {cores} cores, Linux {platform.release().split('-')[0]}, Python {platform.python_version()}"
