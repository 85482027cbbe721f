"""The report on a terminal: sections in order, the answer first. The only place that writes to a console.

Rules: between 80 and 200 cells wide, colours only where the console has them (rich drops them on a pipe), captured text
never as markup and never with control characters, no line wider than the console.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from analyzer.report.facts import Facts

if TYPE_CHECKING:
    from analyzer.query.dataset import Dataset

NARROWEST, WIDEST = 80, 200

# Section -> rows of its table in the report. Every one of them can also be printed alone, and then in full.
SECTIONS = {
    "coverage": 0,
    "attention": 8,
    "latency": 14,
    "throttle": 8,
    "errors": 10,
    "connections": 8,
    "unanswered": 8,
}
# The metrics behind them, asked while another thread looks for findings.
AHEAD = ("latency", "throttle", "connections_of_note", "unanswered", "errors")
ALONE = (*SECTIONS, "clients", "findings")


def print_report(facts: Facts, console: Console) -> None:
    """Prints the whole report, with the facts of `facts_of_report`; a capture without Kafka gets its own page instead."""
    width = _width(console)
    if (lines := _affordable("coverage", facts, width, None)) is not None:
        _print(console, lines)
        if not facts.coverage()["kafka_connections"]:
            _print(console, [Text(""), *_section("no_kafka", facts, width, 20)])
            return
        if not facts.matched():
            _print(console, [Text(""), *_section("nothing", facts, width, None)])
            return
    for metric in AHEAD:
        facts.try_rows(metric)
    for name, limit in SECTIONS.items():
        if name != "coverage" and (lines := _affordable(name, facts, width, limit)):
            _print(console, [Text(""), *lines])
    if facts.left_out:
        _print(console, [Text(""), *(Text(f"Not shown: {name}: {reason}") for name, reason in facts.left_out.items())])


def _affordable(name: str, facts: Facts, width: int, limit: int | None) -> list[Text] | None:
    """The lines of a section; None when memory or disk did not suffice for its questions, and then `facts` note why."""
    try:
        return _section(name, facts, width, limit)
    except Exception as error:
        if not facts.note_limit(name, error):
            raise
        return None


def print_section(dataset: Dataset, name: str, console: Console, limit: int | None = None) -> None:
    """Prints one section in full (its `page`, where it has one), or at most `limit` rows; a sentence when there is
    nothing, another one when the filters leave nothing to look at.
    """
    facts = Facts(dataset)
    width = _width(console)
    lines = (
        _section(name, facts, width, limit, whole=True) if facts.matched() else _section("nothing", facts, width, None)
    )
    _print(console, lines or [Text(_nothing(name))])


def print_part(facts: Facts, name: str, part: str, console: Console, limit: int | None = None) -> None:
    """Prints one of the tables that a section has (`PARTS`), or its `page`."""
    module = import_module(f"analyzer.report.sections.{name}")
    render = module.page if part == "page" else module.PARTS[part]
    width = _width(console)
    lines = render(facts, width, limit) if facts.matched() else _section("nothing", facts, width, None)
    _print(console, lines or [Text(_nothing(name))])


def _nothing(name: str) -> str:
    module = import_module(f"analyzer.report.sections.{name}")
    return getattr(module, "NOTHING", f"Nothing to show for {name}.")


def print_lines(console: Console, render: Callable[[int], list[Text]]) -> None:
    """Prints what `render` makes for the width of the console."""
    _print(console, render(_width(console)))


def _section(name: str, facts: Facts, width: int, limit: int | None, whole: bool = False) -> list[Text]:
    module = import_module(f"analyzer.report.sections.{name}")
    render = module.page if whole and hasattr(module, "page") else module.render
    lines: list[Text] = render(facts, width, limit)
    return lines


def _width(console: Console) -> int:
    return min(max(console.width, NARROWEST), WIDEST)


def _print(console: Console, lines: list[Text]) -> None:
    # Sections have made their lines fit: the console must neither wrap nor colour nor interpret what stands in them.
    console.print(Text("\n").join(lines), soft_wrap=True, highlight=False, markup=False, emoji=False)
