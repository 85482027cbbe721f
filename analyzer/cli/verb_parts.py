"""Verbs whose answer has several parts, each a metric and a table: `--part` picks one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from analyzer.base.filters import like
from analyzer.base.options import Options
from analyzer.base.settings import COST, SORTS, Settings
from analyzer.base.text import printable
from analyzer.cli.common import (
    capture_options,
    captures,
    exit_code,
    format_option,
    limit_option,
    opened,
    sort_option,
    tell_first,
)
from analyzer.query.questions import PARTS, narrowed

if TYPE_CHECKING:
    from analyzer.query.dataset import Dataset

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
# Column of a metric -> globs; a row must match one.
Wanted = dict[str, Sequence[str]]


def part_command(
    section: str,
    short: str,
    text: str,
    *,
    tables: Collection[str],
    options: Sequence[Decorator] = (),
    wanted: Callable[[dict[str, Any]], Wanted] = lambda _: {},
    whole: Callable[[Options, Wanted], bool] = lambda _options, _wanted: False,
    settings: Callable[[dict[str, Any]], Settings] | None = None,
) -> click.Command:
    """A verb over `section` of the report, whose parts are those of `analyzer.query.questions`.

    `options` are click options of its own; `wanted` makes the rows to show from them; `whole` says when a table without
    `--part` is the section's page, all parts of few things. `tables` are the large tables that the metrics read,
    `settings` makes those of the question from `options`.
    """

    parts = PARTS[section]

    @click.command(short_help=short, help=text)
    @captures
    @_all(options)
    @_part(tuple(parts))
    @_sort(section)
    @limit_option
    @format_option("table", "json", "jsonl", "csv")
    @capture_options()
    def command(
        inputs: tuple[str, ...], options: Options, limit: int | None, form: str, part: str | None, **own: Any
    ) -> int:
        rows, chosen = wanted(own), settings(own) if settings is not None else _order(parts, part, own)
        with opened(inputs, options, tuple(tables), asks=section, form=form) as dataset:
            dataset.choose(chosen)
            if absent := _absent(dataset, rows):
                tell_first(f"No request names {', '.join(absent)}.", form)
            if form == "table":
                name = part or ("page" if whole(options, rows) else next(iter(parts)))
                _print_table(dataset, section, name, dict.fromkeys(parts.values(), rows), limit)
            else:
                from analyzer.cli.row_output import print_rows

                print_rows(dataset, narrowed(parts[part or next(iter(parts))], rows), form, limit)
            return exit_code(dataset)

    return command


def _absent(dataset: Dataset, wanted: Wanted) -> list[str]:
    """The globs over columns of exchanges that match none of them."""
    from analyzer.base.tables import TABLES

    known = {column.name for column in TABLES["exchanges"]}
    return [
        f"{column.removesuffix('_id')} {printable(glob)}"
        for column in known & wanted.keys()
        for glob in wanted[column]
        if not dataset.query(f"SELECT 1 AS one FROM exchanges WHERE {like(column, glob)} LIMIT 1")
    ]


def _part(names: tuple[str, ...]) -> Decorator:
    words = f"{', '.join(names[:-1])} or {names[-1]}"
    if len(names) == 1:
        return lambda function: click.option("--part", hidden=True, type=click.Choice(names))(function)
    return click.option("--part", type=click.Choice(names), metavar="PART", help=f"Which table to print: {words}.")


def _sort(section: str) -> Decorator:
    """`--sort`, where the first table of the section has an order to choose."""
    return sort_option(section, None) if section in SORTS else lambda function: function


def _order(parts: Mapping[str, str], part: str | None, own: Mapping[str, Any]) -> Settings:
    """The order that was asked for, which the first of the parts alone has."""
    first, sort = next(iter(parts)), own.get("sort")
    if sort is not None and part not in (None, first):
        raise click.UsageError(f"--sort orders the table of {first}; --part {part} has an order of its own")
    return Settings(sort=sort or COST)


def _all(options: Sequence[Decorator]) -> Decorator:
    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


def _print_table(dataset: Dataset, section: str, part: str, wanted: Mapping[str, Wanted], limit: int | None) -> None:
    """`wanted`: the metrics whose rows are not all shown."""
    from analyzer.cli.screen import screen
    from analyzer.cli.table import TABLE_ROWS
    from analyzer.report.facts import Facts, Rows
    from analyzer.report.terminal import print_part

    class Chosen(Facts):
        def rows(self, metric: str) -> Rows:
            if metric not in self._known:
                self._known[metric] = dataset.held(narrowed(metric, wanted.get(metric, {})))
            return self._known[metric]

    with screen() as console:
        print_part(Chosen(dataset), section, part, console, (TABLE_ROWS if limit is None else limit) or None)
