"""Do the tests notice a broken line? `python tools/mutate.py BEFORE [AFTER] --kept FILE`

Draws lines of compiled stages and of SQL, breaks one at a time in a small way (`<` becomes `<=`, `min` becomes `max`, a number
grows by one ...), and runs tests until one fails: first those of the broken file's own folder, then all quick ones (as `make
test-quick`), then the folders of `--also`. A mutant that no test notices survives. With two checkouts only lines are drawn that
both have, so that the same faults are put to both: tests that were made quicker must not have become blind.

A checkout must be built with its own environment (`make .venv/.compiled .venv/.dev`), and be a copy that nobody works in: its
files are changed and changed back. The same seed draws the same mutants. Outcomes are kept in FILE, one JSON line each; a run that
is started again with the same FILE goes on where it was. Tests that fail on an unbroken checkout would notice everything, so it is
run first.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import random
import re
import resource
import signal
import subprocess
import sys
import tarfile
import tokenize
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

SWAPS = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "=": "<>", "<>": "=", "+": "-", "-": "+", "+=": "-=",
    "-=": "+=", "&": "|", "and": "or", "or": "and", "min": "max", "max": "min", "not": "", "True": "False", "False": "True",
    "break": "continue", "left": "", "asc": "desc", "desc": "asc", "sum": "max", "any_value": "count",
}  # fmt: skip
# Where these stand alone they mean something else: of Python the equals sign and the word `left`, for example.
PYTHON_ONLY = {"==", "!=", "+=", "-=", "&", "True", "False", "break"}
SQL_ONLY = {"=", "<>", "left", "asc", "desc", "sum", "any_value"}
SQL_TOKEN = re.compile(r"--.*|'[^']*'|\"[^\"]*\"|[A-Za-z_][\w.]*|\d[\d_.]*|<=|>=|<>|->|[-+<>=]")
SECONDS = 900
MEMORY = 12 << 30
# An older checkout may not know the marker.
RUNS = ("-o", "markers=slow", "-x", "-q", "-p", "no:cacheprovider", "--no-header", "--tb=no")


@dataclass(frozen=True)
class Mutant:
    """One token of one line, and what takes its place."""

    path: str
    line: str
    column: int
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.path}: {self.line.strip()[:80]!r}: {self.before} -> {self.after or '(nothing)'} at {self.column}"

    @property
    def is_sql(self) -> bool:
        return self.path.endswith(".sql")

    def apply(self, text: str) -> str:
        """The text with the broken line. The line is in it once."""
        end = self.column + len(self.before)
        return text.replace(self.line, self.line[: self.column] + self.after + self.line[end:], 1)


def swap(word: str, is_sql: bool) -> str | None:
    """What takes the place of a token; None where it stays."""
    if word.isdigit():
        return str(int(word) + 1)
    known = word.lower() if is_sql else word
    if known in (PYTHON_ONLY if is_sql else SQL_ONLY):
        return None
    return SWAPS.get(known)


def python_tokens(text: str) -> Iterator[tuple[int, int, str]]:
    """Row, column, and text of the tokens of statements in functions; not of signatures, imports or annotations."""
    statement: list[tokenize.TokenInfo] = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT):
            yield from _of_statement([each for each in statement if each.type != tokenize.COMMENT])
            statement = []
        elif token.type != tokenize.NL:
            statement.append(token)


def _of_statement(tokens: list[tokenize.TokenInfo]) -> Iterator[tuple[int, int, str]]:
    words = [token.string for token in tokens]
    if not words or words[0] in ("def", "@", "import", "from", "class", "assert", "raise"):
        return
    is_annotated = words[0] not in SWAPS and ":" in words[1:5] and words[1] in (":", ".")
    begin = 0 if not is_annotated else words.index("=") if "=" in words else len(words)
    for token in tokens[begin:]:
        if token.start[1] > 0 and token.type in (tokenize.OP, tokenize.NAME, tokenize.NUMBER):
            yield token.start[0], token.start[1], token.string


def sql_tokens(text: str) -> Iterator[tuple[int, int, str]]:
    for row, line in enumerate(text.splitlines(), 1):
        for found in SQL_TOKEN.finditer(line):
            yield row, found.start(), found.group()


def mutants_of(path: str, text: str, other: str) -> list[list[Mutant]]:
    """The mutants of each line that stands once in both texts, a line at a time."""
    lines = text.splitlines(keepends=True)
    here, there = Counter(lines), Counter(other.splitlines(keepends=True))
    is_sql = path.endswith(".sql")
    made: dict[int, list[Mutant]] = {}
    for row, column, word in (sql_tokens if is_sql else python_tokens)(text):
        line = lines[row - 1]
        new = swap(word, is_sql)
        # Told apart from a part of a longer line.
        unique = here[line] == there[line] == 1 and text.count(line) == other.count(line) == 1
        if new is not None and unique:
            made.setdefault(row, []).append(Mutant(path, line, column, word, new))
    return list(made.values())


def committed(tree: Path) -> dict[str, str]:
    """Stages and SQL by name, as git has them: another run may have broken one of them just now."""
    archive = subprocess.run(
        ["git", "-C", tree, "archive", "HEAD", "dissectors", "analyzer/query"], check=True, capture_output=True
    ).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        members = sorted((one for one in files if one.name.endswith((".py", ".sql"))), key=lambda one: Path(one.name))
        return {one.name: files.extractfile(one).read().decode() for one in members}


def draw(trees: list[Path], count: int, seed: int) -> list[Mutant]:
    """`count` mutants, half of them of stages, half of SQL, each of another line."""
    dice = random.Random(seed)
    older, newer = committed(trees[0]), committed(trees[-1])
    drawn = []
    for folder, ending in (("dissectors/", ".py"), ("analyzer/query/", ".sql")):
        lines = []
        for name, text in newer.items():
            is_source = ending == ".sql" or "\nimport cython\n" in text
            if name.startswith(folder) and name.endswith(ending) and is_source:
                lines += mutants_of(name, text, older.get(name, ""))
        drawn += [dice.choice(line) for line in dice.sample(lines, count // 2)]
    return drawn


def run(tree: Path, *command: str) -> tuple[int | None, str]:
    """Exit code, and what was printed. The code is None when it took too long."""
    with subprocess.Popen(
        [str(tree / ".venv/bin/python"), *command],
        cwd=tree,
        # Built in haste: what is asked is what a stage does, not how fast.
        env=os.environ | {"CFLAGS": "-O0 -g0"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY)),
    ) as process:
        try:
            told, _ = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return None, ""
        return process.returncode, told


def build(tree: Path) -> str:
    """Compiles what differs from what was compiled last; what failed, or nothing."""
    code, told = run(tree, "setup.py", "--quiet", "build_ext", "--inplace")
    return "it does not build" if code or "warning: the stages stay plain" in told else ""


QUICK = ["tests/unit", "-m", "not slow", "-n", "2", "--dist", "loadgroup"]


def rungs(tree: Path, mutant: Mutant, also: list[str] | None) -> Iterator[list[str]]:
    """Arguments of pytest: the fewest tests that may notice first."""
    folder = (tree / "tests/unit" / mutant.path).parent
    while not folder.exists():
        folder = folder.parent
    yield [str(folder.relative_to(tree)), "-m", "not slow"]
    if also is None:
        return
    yield QUICK
    yield from ([each, "-n", "2", "--dist", "loadgroup"] for each in also)


def failure(tree: Path, tests: list[str]) -> str:
    """The first test that failed; empty when none did."""
    code, told = run(tree, "-m", "pytest", *RUNS, *tests)
    if code in (0, 5):  # 5: there was no test
        return ""
    if code == 4:
        sys.exit(f"{tree}: pytest does not understand what it is asked: {told}")
    failed = next((line for line in told.splitlines() if line.startswith(("FAILED", "ERROR"))), "")
    return failed[:160] or f"{tests[0]}: {'too slow' if code is None else f'exit code {code}'}"


def judge(tree: Path, mutant: Mutant, also: list[str] | None) -> str:
    """What noticed the mutant; empty when nothing did. The sources are afterwards what they were; the next build follows."""
    path = tree / mutant.path
    text = path.read_text()
    path.write_text(mutant.apply(text))
    try:
        if failed := build(tree):
            return failed
        return next(filter(None, (failure(tree, tests) for tests in rungs(tree, mutant, also))), "")
    finally:
        path.write_text(text)


class Outcomes:
    """What noticed each mutant in each checkout, in a file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        lines = path.read_text().splitlines() if path.exists() else []
        self.known: dict[tuple[str, str], str] = {
            (one["tree"], one["mutant"]): one["killer"] for one in map(json.loads, lines)
        }

    def of(self, tree: Path, mutant: str, find: Callable[[], str]) -> str:
        if (tree.name, mutant) not in self.known:
            killer = self.known[tree.name, mutant] = find()
            with self.path.open("a") as file:
                file.write(json.dumps({"tree": tree.name, "mutant": mutant, "killer": killer}) + "\n")
        return self.known[tree.name, mutant]


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("trees", nargs="+", type=lambda name: Path(name).resolve(), metavar="CHECKOUT")
    asked.add_argument("--seed", type=int, default=0)
    asked.add_argument("--count", type=int, default=40)
    asked.add_argument("--kept", type=Path, required=True, metavar="FILE")
    asked.add_argument(
        "--also", action="append", default=[], metavar="FOLDER", help="tests for those that survived the quick ones"
    )
    asked.add_argument(
        "--near", action="store_true", help="only tests of the broken file's own folder: it is much quicker"
    )
    asked.add_argument("--in", dest="name", help="judge only in the checkout of this name")
    asked.add_argument("--seconds", type=float, default=1e9, help="begin no mutant after so long")
    asked.add_argument("--only", action="store_true", help="say what would be broken")
    given = asked.parse_args()
    mutants = draw(given.trees, given.count, given.seed)
    if given.only:
        print(*mutants, sep="\n")
        return
    outcomes = Outcomes(given.kept)
    trees = [tree for tree in given.trees if given.name in (None, tree.name)]
    also = None if given.near else given.also
    for tree in () if given.near else trees:
        if told := outcomes.of(tree, "unbroken", lambda tree=tree: failure(tree, QUICK)):
            sys.exit(f"{tree}: its tests fail as it is: {told}")
    begin = monotonic()
    for number, mutant in enumerate(mutants):
        if monotonic() - begin > given.seconds:
            sys.exit(f"{number} of {len(mutants)} were tried: the same command goes on")
        print(f"{number:2} {mutant}", flush=True)
        for tree in trees:
            killer = outcomes.of(tree, str(mutant), lambda tree=tree, mutant=mutant: judge(tree, mutant, also))
            print(f"   {tree.name}: {killer or 'SURVIVED'}", flush=True)
    for tree in trees:
        killed = sum(bool(outcomes.known[tree.name, str(mutant)]) for mutant in mutants)
        print(f"{tree.name}: {killed} of {len(mutants)} killed")


if __name__ == "__main__":
    main()
