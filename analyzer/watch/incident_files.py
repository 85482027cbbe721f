"""What is left of an incident: an annotated extract, its report and its findings, in a folder that appears when it is whole.

The files of the ring are copied whole, not the connections of a finding alone: what happened beside it is part of the evidence, and
the extract read by itself must lead to the same first finding.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analyzer.base import temp_folders
from analyzer.base.outputs import new_file
from analyzer.base.text import json_text
from analyzer.extract import choice as choices
from analyzer.extract.copying import FragmentsMet, copy
from analyzer.extract.pcapng_file import PcapngFile
from analyzer.inputs.capture_heads import in_time_order
from analyzer.inputs.expansion import expand
from analyzer.query.run_findings import find
from analyzer.report.facts import Facts
from analyzer.report.finding_rows import as_object
from analyzer.report.terminal import print_report
from analyzer.run import local

if TYPE_CHECKING:
    from analyzer.base.options import Options
    from analyzer.inputs.sources import Source

EXTRACT, REPORT, FINDINGS = "extract.pcapng", "report.txt", "findings.json"
_WIDTH = 100
_NICE = 10


def write(ring_files: Sequence[Path], target: Path, options: Options) -> dict[str, Any]:
    """Writes the folder `target` from files of a ring; returns the first finding of the extract as an object, empty without one.
    Raises InputError and OSError, and leaves nothing behind then."""
    os.nice(_NICE)
    options = replace(options, jobs=1, seldom=True, tables=None)
    hidden = temp_folders.make_beside(target)
    try:
        unfinished = hidden / "unfinished"
        unfinished.mkdir(mode=0o700)
        _extract(ring_files, unfinished / EXTRACT, options)
        found = _report(unfinished, target, replace(options, taps=()))
        unfinished.replace(target)
        return found
    finally:
        temp_folders.remove(hidden)


def _extract(ring_files: Sequence[Path], target: Path, options: Options) -> None:
    names = [str(path) for path in ring_files]
    with local.open_dataset(names, options) as dataset:
        connections = {row["connection"] for row in dataset.query("SELECT connection FROM all_connections")}
        choice = choices.Choice(connections)
        choices.add_spans(dataset, choice)
        choices.add_comments(dataset, choice, list(enumerate(find(dataset), 1)))
    _copy(in_time_order(expand(names).sources), choice, target, options)


def _copy(sources: Sequence[Source], choice: choices.Choice, target: Path, options: Options) -> None:
    with_fragments: set[int] = set()
    while True:
        try:
            with new_file(target) as sink:
                copy(sources, choice, with_fragments, options.decode_as, PcapngFile(sink))
            return
        except FragmentsMet as met:
            with_fragments.add(met.file)


def _report(folder: Path, final: Path, options: Options) -> dict[str, Any]:
    """The report of the extract alone, as it will be in the folder `final`."""
    from rich.console import Console

    with local.open_dataset([str(folder / EXTRACT)], options) as dataset:
        dataset.captures = dataset.captures.replace(str(folder), str(final))
        facts = Facts(dataset)
        console = Console(width=_WIDTH, highlight=False, force_terminal=False, color_system=None)
        with console.capture() as text:
            print_report(facts, console)
        found = [as_object(each) for each in facts.findings()]
    _write(folder / REPORT, text.get())
    _write(folder / FINDINGS, json_text(found, indent=2) + "\n")
    return found[0] if found else {}


def _write(path: Path, text: str) -> None:
    with new_file(path) as file:
        file.write(text.encode())
