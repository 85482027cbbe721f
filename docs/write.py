"""Writes the pages that come from the source; with --check only names the stale ones, exit code 1."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

from analyzer.base import tables
from analyzer.cli.main import cli
from analyzer.cli.verb_help import full_help
from analyzer.page.document import glossary

ROOT = Path(__file__).resolve().parent.parent
_WIDTH = 100


def command_line() -> str:
    """docs/cli.md: the help of every command, as a terminal of 100 columns shows it."""
    parts = ["# Command line", "Written from `--help` by `make docs`; do not edit."]
    parts += [EXIT_CODES, *(f"## {name}\n\n```\n{text.rstrip()}\n```" for name, text in _helps())]
    return "\n\n".join(parts) + "\n"


EXIT_CODES = """\
| exit code | of every verb |
|---|---|
| 0 | success |
| 1 | `check`: a limit is broken |
| 2 | wrong usage; an input that could not be read or is damaged (the others are reported all the same); memory or disk ran out \
for a part of the answer, or for telling what could not be read |
| 3 | with `--strict`, and always in `check`: something that matters to the question could not be read |
| 70 | a bug in kanalyze |
| 130 | interrupted before all was read (128 and the signal's number for others); Ctrl-C while `-` is read only ends the input |

What could not be read is printed first, as far as it matters to the command: TLS that was not decrypted, connections of
which only one direction was captured, loss beyond 1 %, a capture that is cut off before its end (a truncated copy, a tcpdump
that was killed), a limit that was reached, filters that match nothing, no Kafka at all. In text it is the first line; with
`--format json`, `jsonl` and `csv` it is one line on stderr, and an object `readable` where the JSON is an object (`report`,
`diff`). That a capture begins or ends in the middle of connections is normal and does not count.

A closed pipe (`| head`) is not an error. Warnings, one per line, go to stderr, and so does the progress line, which only
a terminal gets: stdout has nothing but the result.

`--format json`, `jsonl` and `csv` write the keys `exchange` and `connection` as 16 hex digits, which `show` takes. JSON
escapes what a terminal would act upon and what nobody sees (zero-width characters, spaces but the common one), and has names
exactly. Text and the page write both as `\\x1b` or `\\u200b`, and a backslash of a name as two, so that names that differ look
different. CSV does so in the cells that would read alike, and text that a spreadsheet would take for a formula has an
apostrophe before it."""


def glossary_page() -> str:
    """docs/glossary.md: the terms that the page of `kanalyze html` explains."""
    rows = "\n".join(f"| {term} | {meaning} |" for term, meaning in glossary())
    head = "# Glossary\n\nThe page that `kanalyze html` writes has the same terms behind the button in its head.\n\n"
    return f"{head}| term | meaning |\n|---|---|\n{rows}\n"


# Of the report in README.md: sections behind the first, lines of each.
_SECTIONS, _FINDING_LINES, _SECTION_LINES = 7, 9, 6


def _helps() -> Iterator[tuple[str, str]]:
    settings: dict[str, Any] = {**cli.context_settings, "terminal_width": _WIDTH, "max_content_width": _WIDTH}
    context = click.Context(cli, info_name="kanalyze", **settings)
    yield "kanalyze", cli.get_help(context)
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        assert command is not None
        yield f"kanalyze {name}", full_help(command, click.Context(command, context, name, **settings))


def readme() -> str:
    """README.md, what `make demo` prints being the beginning of what it prints now, on a terminal of 80 columns."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    before, mark, rest = text.partition("(tests/data/reports/samples.80.txt)):\n\n```\n")
    _, end, after = rest.partition("\n```\n")
    assert mark and end, "README.md has lost the place for the output of `make demo`"
    command = [sys.executable, "-c", "from analyzer.cli.main import run; run()", "samples"]
    env = {**os.environ, "COLUMNS": "80", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT, env=env)
    return before + mark + _shortened(done.stdout) + end + after


def _shortened(report: str) -> str:
    """The first sections of a report, each cut to its first lines: two screens."""
    first, *others = report.rstrip("\n").split("\n\n")
    parts = [first]
    for section in others[:_SECTIONS]:
        lines = section.split("\n")
        most = _FINDING_LINES if lines[0] == "Needs attention" else _SECTION_LINES
        parts.append("\n".join(lines if len(lines) <= most else [*lines[:most], "..."]))
    return "\n\n".join(parts)


PAGES: dict[str, Callable[[], str]] = {
    "docs/cli.md": command_line,
    "docs/tables.md": tables.docs,
    "docs/glossary.md": glossary_page,
    "README.md": readme,
}


def stale() -> list[str]:
    """Names of pages that are not what the source says."""
    return [
        name
        for name, text in PAGES.items()
        if not (ROOT / name).is_file() or (ROOT / name).read_text(encoding="utf-8") != text()
    ]


def main(arguments: list[str]) -> int:
    """Writes stale pages, or with --check only names them."""
    found = stale()
    for name in found:
        print(f"{name} is stale: run `make docs`" if arguments == ["--check"] else f"{name} written")
        if arguments != ["--check"]:
            (ROOT / name).write_text(PAGES[name](), encoding="utf-8")
    return 1 if found and arguments == ["--check"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
