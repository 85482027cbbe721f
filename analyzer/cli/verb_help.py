"""How a verb says what it can: examples first, the few options that matter, all of them with --help-all.

Commands are plain ones of click; `with_manners` gives each what all of them have: --help-all, --no-pager, and --json-schema where
its answer has one.
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import click

EXAMPLES = Path(__file__).parent / "examples.toml"
# What few people ever need to set: how captures are read, what memory is for, how a run ends.
SELDOM = frozenset(
    (
        "ports",
        "taps",
        "decode_as",
        "jobs",
        "temp_dir",
        "memory_bytes",
        "max_frame_bytes",
        "max_connections",
        "max_reassembly_bytes",
        "reorder_packets",
        "reorder_ns",
        "strict",
        "unsafe_sql",
        "json_schema",
        "no_pager",
    )
)
NO_PAGER = "analyzer.cli.no_pager"
_ALL = "analyzer.cli.help_all"


class Verb(click.Command):
    """A command whose --help begins with examples and leaves out `SELDOM`, until --help-all asks for them."""

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        self.format_usage(ctx, formatter)
        if shown := examples(self.name or ""):
            with formatter.section("Examples"):
                _write_examples(formatter, shown)
        self.format_help_text(ctx, formatter)
        self.format_options(ctx, formatter)
        self.format_epilog(ctx, formatter)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        every = bool(ctx.meta.get(_ALL))
        records = []
        left_out = 0
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is None or not isinstance(parameter, click.Option):
                continue
            if every or parameter.name not in SELDOM:
                records.append(record)
            else:
                left_out += 1
        if records:
            with formatter.section("Options"):
                formatter.write_dl(records)
        if left_out:
            formatter.write_paragraph()
            options = "option" if left_out == 1 else "options"
            formatter.write_text(f"{left_out} more {options}: {ctx.command_path} --help-all")


def _write_examples(formatter: click.HelpFormatter, shown: dict[str, str]) -> None:
    """A line each where all fit; otherwise what a command answers follows below it. A shell reads what is printed."""
    widest = max(len(line) for line in shown)
    room = formatter.width - formatter.current_indent - widest - 2
    if all(len(answer) <= room for answer in shown.values()):
        formatter.write_dl(list(shown.items()), col_max=widest)
        return
    indent = " " * formatter.current_indent
    for line, answer in shown.items():
        if len(line) > formatter.width - len(indent):
            first, option, last = line.rpartition(" --")
            line = f"{first} \\\n{indent}   {option}{last}"
        formatter.write(f"{indent}{line}\n{indent}    {answer}\n")


@cache
def examples(verb: str) -> dict[str, str]:
    """Command line -> what it answers; empty for a verb without examples."""
    found: dict[str, dict[str, str]] = tomllib.loads(EXAMPLES.read_text(encoding="utf-8"))
    return found.get(verb, {})


def with_manners(command: click.Command, schema_of: str | None) -> click.Command:
    """The command as a `Verb`, with the options that every verb has; `schema_of`: what `json_schemas` knows of its answer."""
    more: list[click.Parameter] = [
        click.Option(
            ["--help-all"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_help_all,
            help="Show all options.",
        )
    ]
    if any(parameter.name in ("form", "inputs") for parameter in command.params):
        text = "Print a long answer without a pager."
        more.append(click.Option(["--no-pager"], is_flag=True, expose_value=False, callback=_no_pager, help=text))
    if schema_of is not None:
        text = f"Print the JSON Schema of {schema_of} and exit."
        more.append(
            click.Option(
                ["--json-schema"], is_flag=True, is_eager=True, expose_value=False, callback=_json_schema, help=text
            )
        )
    return Verb(
        command.name,
        context_settings=command.context_settings,
        callback=command.callback,
        params=[*command.params, *more],
        help=command.help,
        epilog=command.epilog,
        short_help=command.short_help,
    )


def full_help(command: click.Command, context: click.Context) -> str:
    """What --help-all prints."""
    context.meta[_ALL] = True
    try:
        return command.get_help(context)
    finally:
        context.meta[_ALL] = False


def _help_all(ctx: click.Context, _: click.Parameter, wanted: Any) -> None:
    if wanted and not ctx.resilient_parsing:
        click.echo(full_help(ctx.command, ctx))
        ctx.exit()


def _no_pager(ctx: click.Context, _: click.Parameter, wanted: Any) -> None:
    if wanted:
        ctx.meta[NO_PAGER] = True


def _json_schema(ctx: click.Context, _: click.Parameter, wanted: Any) -> None:
    if wanted and not ctx.resilient_parsing:
        from analyzer.cli.json_schemas import text

        click.echo(text(ctx.command.name or ""))
        ctx.exit()
