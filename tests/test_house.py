"""What keeps the house one that a stranger can live in: lengths of files, names, doors of rooms, paths in the guide."""

from __future__ import annotations

import ast
import importlib.util
import re
import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent
CODE = ("dissectors", "analyzer", "kanalyze", "tests", "bench", "docs", "tools", "lab")
MOST_LINES = 400
# Tables of data: a line a column or a module, some lines a story.
TABLES_OF_DATA = {
    "dissectors/layout.py",
    "analyzer/base/tables.py",
    "tests/support/finding_stories.py",
    "tests/support/module_order.py",
}
# Folders in which files about the same subject have the same name on purpose: the verb, the section, the rows.
SAME_SUBJECT = ("analyzer/cli", "analyzer/report")


def files(*folders: str) -> list[str]:
    """Python files of the project below these folders, by their paths from the top."""
    found = (path for folder in folders for path in (ROOT / folder).rglob("*.py"))
    return sorted(path.relative_to(ROOT).as_posix() for path in found)


def test_a_file_is_short_enough_to_be_read_at_once() -> None:
    lengths = {
        name: len((ROOT / name).read_text(encoding="utf-8").splitlines())
        for name in files(*CODE)
        if name not in TABLES_OF_DATA
    }
    long = {name: lines for name, lines in lengths.items() if lines > MOST_LINES}
    assert not long, f"{long}: where are their seams?"


def test_a_name_stands_for_one_subject() -> None:
    named = defaultdict(list)
    for path in files("dissectors", "analyzer"):
        if not path.startswith(SAME_SUBJECT) and not path.endswith("__init__.py"):
            named[Path(path).name].append(path)
    twice = {name: paths for name, paths in named.items() if len(paths) > 1 and tuple(paths) not in ONE_SUBJECT}
    assert not twice


def test_the_top_level_holds_what_it_should() -> None:
    """Output of a script that went into a file of a strange name is soon added with everything else."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout")
    told = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], capture_output=True, text=True, check=True).stdout
    names = {name.split("/")[0] for name in told.split("\0") if name}
    assert names == TOP_LEVEL


TOP_LEVEL = {
    *(
        ".ci",
        ".containerignore",
        ".git_archival.txt",
        ".gitattributes",
        ".github",
        ".gitignore",
        "ARCHITECTURE.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "Containerfile",
    ),
    *(
        "LICENSE",
        "MANIFEST.in",
        "Makefile",
        "README.md",
        "SECURITY.md",
        "analyzer",
        "bench",
        "dissectors",
        "docs",
        "findings",
        "kanalyze",
        "lab",
        "mkdocs.yml",
    ),
    *("notebooks", "pyproject.toml", "samples", "setup.py", "tests", "tools"),
}


def test_findings_about_other_software_are_listed() -> None:
    """They need registries, so nothing runs them here: each is in the table, short, and cleans up after itself."""
    folder = ROOT / "findings"
    listed = re.findall(r"\]\(([\w-]+\.sh)\)", (folder / "README.md").read_text(encoding="utf-8"))
    assert listed == sorted(path.name for path in folder.glob("*.sh"))
    for name in listed:
        text = (folder / name).read_text(encoding="utf-8")
        assert len(text.splitlines()) <= 90 and "set -euo pipefail\nwork=$(mktemp -d)\n" in text, name
        assert text.splitlines()[1].startswith("# ") and "\n# Why it matters: " in text, name


@pytest.mark.skipif(shutil.which("git") is None, reason="no git here")
def test_no_conflict_is_left() -> None:
    """Lines that git writes around what two changes say of one place."""
    marks = "^(" + "<" * 7 + " |" + ">" * 7 + " )"
    found = subprocess.run(["git", "grep", "-nE", marks], cwd=ROOT, capture_output=True, text=True, check=False)
    assert found.stdout == "" and found.returncode in (1, 128), "128: no checkout"


def test_no_two_test_files_share_a_name() -> None:
    """pytest imports them by their names alone: a second one would end the whole run before its first test."""
    named = Counter(Path(path).name for path in files("tests"))
    assert not [name for name, count in named.items() if count > 1 and name.startswith("test_")]


# Files that share a name because they are about one subject.
ONE_SUBJECT = {
    # What a request waits for: told from the wire, and what it means to a person.
    ("analyzer/base/wait_kinds.py", "dissectors/kafka/columns/wait_kinds.py"),
    # Connections that begin and end inside a task: how reassembly knows them, and how they travel.
    ("analyzer/distributed/complete_connections.py", "dissectors/tcp/complete_connections.py"),
    # Each room of a stage has its state, the numbers of its columns, its connections and their checkpoints.
    ("dissectors/kafka/framing/checkpoint.py", "dissectors/tcp/checkpoint.py"),
    ("dissectors/kafka/framing/connections.py", "dissectors/tcp/connections.py"),
    ("dissectors/kafka/framing/state.py", "dissectors/tcp/state.py"),
    ("dissectors/kafka/framing/state_columns.py", "dissectors/tcp/state_columns.py"),
}


def build_script() -> ModuleType:
    """setup.py, without running it."""
    spec = importlib.util.spec_from_file_location("setup_of_kanalyze", ROOT / "setup.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    before = list(sys.path)
    spec.loader.exec_module(module)
    sys.path[:] = before
    return module


def test_a_room_is_entered_by_its_head() -> None:
    """Who imports another file of a compiled room gets the plain one: slow, and a second copy of its state."""
    script = build_script()
    stages = script.read_stages()
    units = script.units(stages)
    inside = {stage.name for parts in units.values() for stage in parts} - set(units)
    for path in files("dissectors", "analyzer", "bench", "docs"):
        name = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        if name in stages:
            continue
        for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                names = {str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)}
                assert not names & inside, f"{path}:{node.lineno} imports {names & inside}, no head"


def test_every_stage_belongs_to_one_room() -> None:
    script = build_script()
    units = script.units(script.read_stages())
    owners = defaultdict(list)
    for head, parts in units.items():
        for stage in parts:
            owners[stage.name].append(head)
    shared = {name: heads for name, heads in owners.items() if len(heads) > 1}
    # A class compiled twice would be two types.
    stages = script.read_stages()
    for name in shared:
        assert not any(isinstance(node, ast.ClassDef) for node in stages[name].tree.body), f"{name}: {shared[name]}"


def test_paths_in_the_guide_exist() -> None:
    pages = [ROOT / "ARCHITECTURE.md", *sorted((ROOT / "docs" / "dev").glob("*.md"))]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    places = (
        "",
        "analyzer",
        "dissectors",
        "dissectors/kafka",
        "analyzer/query",
        "analyzer/query/metrics",
        "analyzer/ingest",
    )
    for path in sorted(set(re.findall(r"`([\w/.]+(?:\.(?:py|sql|tsv|md|kafka)|/))`", text))):
        found = any((ROOT / place / path).exists() for place in places)
        found = found or any(list(ROOT.glob(f"{top}/**/{path}")) for top in ("dissectors", "analyzer", "tests"))
        assert found, f"{path} is named, which is not there"
