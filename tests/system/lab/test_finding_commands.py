"""A finding and the command that it names say the same: subject and numbers of the sentence stand in what the command prints.

Each rule is tried on the smallest of the project's captures in which it finds something (`finding_commands.tsv`), or on the rows
of its story where no capture has it.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from finding_stories import STORIES
from kept_datasets import KeptDatasets
from made_rows import SECOND_NS, START_NS, capture, dataset
from paths import ROOT

from analyzer.base.filters import Filters
from analyzer.base.options import Options
from analyzer.query.dataset import Dataset
from analyzer.query.findings import names, rule
from analyzer.query.incidents import SUBJECTS, Finding
from analyzer.query.run_findings import find
from analyzer.report.sentences import look, sentence
from analyzer.run import local

TABLE = ROOT / "tests" / "data" / "finding_commands.tsv"
_PARTITION = "{topic}-{partition}"
# The letter before a version belongs to it.
_PLACE = re.compile(r"(\bv)?\{(\w+)(?:\|[^}]*)?\}")
# Text of rules that is about somebody or something, besides the columns that all rules share.
_MORE_SUBJECTS = (
    "advertised",
    "api_name",
    "entity",
    "head",
    "name",
    "named",
    "principal",
    "transactional_id",
    "user_name",
)
# In text that a rule's SQL put together: a number with its unit, none that is a part of a name, an address or a version.
_NUMBER = re.compile(r"(?<![\w.:-])\d[\d,.]*(?: (?:ns|µs|ms|s|min|h|d|%|[kMGT]?B)\b)?(?![\w.:-])")
# Of one rule in one capture: the first are enough.
_MOST = 3


def chosen() -> dict[str, Path | None]:
    """Rule -> its capture; None: its story."""
    lines = (line.split("\t") for line in TABLE.read_text(encoding="utf-8").splitlines())
    return {name: None if path == "-" else ROOT / path for name, path in lines}


def wanted(each: Finding) -> Iterator[str]:
    """What its command has to print: numbers as they stand in the sentence, and whom it is about."""
    says, row = each.rule.says, each.row
    told = sentence(says, row)
    if _PARTITION in says:  # orders-3, as Kafka's own tools write it
        says = says.replace(_PARTITION, "")
        yield sentence(_PARTITION, row)
    for place in _PLACE.finditer(says):
        letter, name = place[1] or "", place[2]
        value = row[name]
        if value is None:
            continue
        written = letter + sentence(f"{{{name}}}", row)
        if written not in told:
            continue  # of a part that was left out
        if isinstance(value, str):
            # A sentence sets a client id that is a word in quotes.
            yield from (written.strip('"'),) if name in (*SUBJECTS, *_MORE_SUBJECTS) else _NUMBER.findall(written)
        else:
            yield written


def missing(each: Finding, printed: str) -> list[str]:
    """What the sentence says and the command does not."""
    flat = " ".join(printed.split())
    return [
        text for text in wanted(each) if not re.search(rf"(?<![\w.-])(?<!\d,){re.escape(text)}(?![\w-]|[.,]\w)", flat)
    ]


@contextmanager
def story(name: str, folder: Path) -> Iterator[Dataset]:
    """The rows of a rule's story; what is opened meanwhile is these rows, filtered as asked."""
    tables = {"captures": [capture(last_time_ns=START_NS + 400 * SECOND_NS)]} | STORIES[name][0]()

    def opened(_inputs: Any, options: Options, _progress: Any = None) -> Dataset:
        made = dataset(folder, tables, filters=options.filters)
        made.captures = "made.pcap"
        return made

    with mock.patch.object(local, "open_dataset", opened), opened((), Options(filters=Filters())) as made:
        yield made


def disagreements(found: list[Finding], kept: KeptDatasets, folder: Path) -> list[str]:
    """A line for each finding whose command prints something else."""
    assert found
    lines = []
    for each in found[:_MOST]:
        command = look(each)
        run = kept.run(shlex.split(command)[1:], folder)
        printed = run.stdout.decode()
        lacks = missing(each, printed)
        if run.returncode or lacks:
            told = sentence(each.rule.says, each.row)
            lines.append(f"{told}\n{command}\nlacks {lacks}:\n{printed}{run.stderr.decode()}")
    return lines


@pytest.mark.parametrize("name", names())
def test_the_command_shows_what_the_finding_says(name: str, tmp_path: Path) -> None:
    path = chosen()[name]
    with KeptDatasets() as kept:
        if path is None:
            with story(name, tmp_path) as made:
                told = disagreements(find(made, [rule(name)]), kept, tmp_path)
        else:
            with local.open_dataset([str(path)], Options()) as read:
                told = disagreements(find(read, [rule(name)]), kept, ROOT)
    assert not told, "\n\n".join(told)


def test_each_rule_has_its_capture() -> None:
    assert list(chosen()) == names()
