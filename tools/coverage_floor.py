"""Does every package have as many of its lines reached as it had? `python tools/coverage_floor.py coverage.json` (`make coverage`)

The file is what `coverage json` writes; the floors are in pyproject.toml. A floor is raised where tests reach more, and lowered
with a reason.
"""

from __future__ import annotations

import json
import sys
import tomllib
from collections import Counter
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"


def reached(files: dict[str, dict[str, dict[str, int]]], packages: list[str]) -> dict[str, float]:
    """Package -> per cent of the lines of its files, and of those below it that belong to no longer name, that ran."""
    lines, ran = Counter[str](), Counter[str]()
    for name, file in files.items():
        package = max((each for each in packages if name.startswith(f"{each}/")), key=len, default="")
        lines[package] += file["summary"]["num_statements"]
        ran[package] += file["summary"]["covered_lines"]
    return {package: 100 * ran[package] / lines[package] for package in lines}


def main() -> None:
    floors: dict[str, int] = tomllib.loads(PROJECT.read_text())["tool"]["kanalyze"]["coverage-floor"]
    found = reached(json.loads(Path(sys.argv[1]).read_text())["files"], list(floors))
    below = False
    for package in sorted(floors | found):
        has, floor = found.get(package, 0.0), floors.get(package)
        short = floor is None or has < floor
        below |= short
        print(f"{package:28}{has:6.1f} %  floor {'missing' if floor is None else floor}{'  BELOW' if short else ''}")
    sys.exit(int(below))


if __name__ == "__main__":
    main()
