"""The guides: links resolve, command lines are taken by their verbs, SQL and Python run."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from paths import ROOT, SAMPLES

from analyzer.base.options import Options
from analyzer.cli.main import DEFAULT, cli, verbs
from analyzer.query.documented import documented_arrow
from analyzer.run.local import open_dataset

PAGES = sorted(
    [
        ROOT / "README.md",
        ROOT / "docs" / "README.md",
        *(ROOT / "docs").glob("*.md"),
        *(ROOT / "docs" / "guides").glob("*.md"),
    ]
)
GUIDES = sorted((ROOT / "docs" / "guides").glob("*.md"))
CAPTURE = SAMPLES / "throttle.pcap.zst"


def blocks(path: Path, language: str) -> Iterator[str]:
    """What stands in fenced blocks of a language; "" for those without one."""
    yield from re.findall(rf"^```{language}\n(.*?)^```$", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_resolve(path: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8")):
        if not target.startswith(("http://", "https://")):
            assert (path.parent / target).exists(), target


@pytest.mark.parametrize("path", GUIDES, ids=lambda path: path.stem)
def test_commands_are_taken_by_their_verbs(path: Path) -> None:
    for line in "".join(blocks(path, "")).splitlines():
        if not line.startswith("kanalyze "):
            continue
        words = shlex.split(line.partition(" | ")[0], comments=True)[1:]
        name = words.pop(0) if words[0] in verbs() else DEFAULT
        # Files of the examples are not there.
        words = ["--no-high" if word == "--rules" else word for word in words if word != "limits.toml"]
        words = [str(CAPTURE) if word.endswith((".log", ".key")) else word for word in words]
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        with command.make_context(name, words, parent=click.Context(cli)):
            pass


def test_sql_runs() -> None:
    found = [text for path in GUIDES for text in blocks(path, "sql")]
    assert len(found) >= 10
    with open_dataset([str(CAPTURE)], Options(), None) as dataset:
        for text in found:
            assert documented_arrow(dataset, text).num_columns > 1, text


def test_python_runs(capsys: pytest.CaptureFixture[str]) -> None:
    for path in GUIDES:
        for text in blocks(path, "python"):
            if "capture.pcap" in text:
                exec(text.replace("capture.pcap", str(CAPTURE)).replace('client="orders-*"', 'client="shop-*"'), {})
                assert "whole" in capsys.readouterr().out


def test_every_guide_is_linked_and_in_the_site() -> None:
    start = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    site = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for path in GUIDES:
        assert f"(guides/{path.name})" in start, path.name
        assert f"guides/{path.name}" in site, path.name
