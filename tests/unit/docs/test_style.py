"""What a person reads has none of the words that docs/dev/style.md lists."""

from __future__ import annotations

import ast
import io
import json
import re
import tokenize
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
STYLE = ROOT / "docs" / "dev" / "style.md"
# Kafka's own words, and what programs wrote.
_NOT_OURS = ("docs/protocol/", "docs/notebooks/", "docs/dev/style.md")
_FINE = r"(?!\s+(?:out|still|by|in for)\b)"


# Packages whose comments are held to the list.
PROOFREAD = (
    "analyzer/base",
    "analyzer/cli",
    "analyzer/compare",
    "analyzer/distributed",
    "analyzer/extract",
    "analyzer/ingest",
    "analyzer/inputs",
    "analyzer/messages",
    "analyzer/notebook",
    "analyzer/page",
    "analyzer/query",
    "analyzer/redact",
    "analyzer/report",
    "analyzer/run",
    "analyzer/spark",
    "analyzer/timeline",
    "analyzer/watch",
    "dissectors",
    "kanalyze",
)


def _words() -> re.Pattern[str]:
    rows = re.findall(r"^\| (.+?) \| .+ \|$", STYLE.read_text(encoding="utf-8"), re.MULTILINE)
    words = [word for row in rows[1:] if row != "---" for word in row.split(", ")]
    return re.compile(
        "|".join(rf"\b{word}\b{_FINE if word.startswith('stand') else ''}" for word in words), re.IGNORECASE
    )


def _pages() -> Iterator[tuple[str, str]]:
    heads = ("ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "README.md", "SECURITY.md")
    rooms = (f"{room}/README.md" for room in ("findings", "lab", "samples"))
    pages = [*(ROOT / name for name in (*heads, *rooms)), *(ROOT / "docs").rglob("*.md")]
    for path in pages:
        if not (name := str(path.relative_to(ROOT))).startswith(_NOT_OURS):
            yield name, path.read_text(encoding="utf-8")


def _notebooks() -> Iterator[tuple[str, str]]:
    """What a reader of a notebook reads, code and comments too."""
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            yield path.name, "".join(cell["source"])


def _findings() -> Iterator[tuple[str, str]]:
    for path in (ROOT / "analyzer" / "query" / "findings").glob("*.sql"):
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith(("-- says:", "-- do:")):
                yield path.name, line


def _page() -> Iterator[tuple[str, str]]:
    for path in (ROOT / "analyzer" / "page" / "assets").iterdir():
        if path.suffix in (".js", ".html", ".tsv"):
            lines = path.read_text(encoding="utf-8").splitlines()
            yield path.name, "\n".join(line for line in lines if not line.lstrip().startswith("//"))


def _texts(path: Path) -> Iterator[str]:
    """The strings of a module that are not docstrings: what it says while it runs."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    bare = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in bare:
            yield node.value


def _messages() -> Iterator[tuple[str, str]]:
    for folder in ("analyzer", "dissectors"):
        for path in (ROOT / folder).rglob("*.py"):
            for text in _texts(path):
                yield str(path.relative_to(ROOT)), text


def _comments() -> Iterator[tuple[str, str]]:
    """Comments, and strings with them: what a reader of the code reads, in packages that are free of the words."""
    for folder in PROOFREAD:
        for path in (ROOT / folder).rglob("*.py"):
            for token in tokenize.generate_tokens(io.StringIO(path.read_text(encoding="utf-8")).readline):
                if token.type in (tokenize.COMMENT, tokenize.STRING):
                    yield f"{path.relative_to(ROOT)}:{token.start[0]}", token.string


@pytest.mark.parametrize("texts", [_pages, _notebooks, _findings, _page, _messages, _comments])
def test_no_word_that_is_not_used(texts: Callable[[], Iterator[tuple[str, str]]]) -> None:
    words = _words()
    found = [
        f"{name}: ...{text[max(at.start() - 40, 0) : at.end() + 30]!r}"
        for name, text in texts()
        for at in words.finditer(text)
    ]
    assert not found, "\n".join(found)


def test_the_list_finds_what_it_lists() -> None:
    assert _words().search("17 more connections come along") and _words().search("the table of which it tells")
    assert not _words().search("connections that stand out, a broker that stands still")
