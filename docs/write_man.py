"""Writes man pages of every command to a folder, from the words of --help: `make man`."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from analyzer.cli.main import cli
from analyzer.cli.verb_help import examples
from analyzer.version import VERSION


def escaped(text: str) -> str:
    """Text as roff takes it: backslashes and hyphens as they are, no line that begins a request."""
    safe = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"(?m)^([.'])", r"\\&\1", safe)


def page(name: str, command: click.Command, context: click.Context) -> str:
    """The roff (man macros) of one command; `name` as in kanalyze-latency."""
    short = command.get_short_help_str(200).rstrip(".")
    lines = [f'.TH "{name.upper()}" 1 "" "kanalyze {VERSION}" "kanalyze"', ".SH NAME", escaped(f"{name} - {short}")]
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    lines += [".SH SYNOPSIS", f".B {escaped(usage)}", ".SH DESCRIPTION"]
    for paragraph in (command.help or "").split("\n\n"):
        verbatim = paragraph.startswith("\b")
        text = paragraph.removeprefix("\b\n")
        lines += [".PP", *([".nf"] if verbatim else []), escaped(text), *([".fi"] if verbatim else [])]
    if shown := examples(command.name or ""):
        lines.append(".SH EXAMPLES")
        for line, answer in shown.items():
            lines += [".TP", f".B {escaped(line)}", escaped(answer)]
    lines += [".SH OPTIONS", *_options(command, context)]
    if isinstance(command, click.Group):
        lines.append(".SH COMMANDS")
        for verb in command.list_commands(context):
            found = command.get_command(context, verb)
            assert found is not None
            lines += [".TP", f".BR kanalyze\\-{escaped(verb)} (1)", escaped(found.get_short_help_str(200))]
    else:
        lines += [".SH EXIT STATUS", escaped(EXITS), ".SH SEE ALSO", ".BR kanalyze (1)"]
    return "\n".join(line for line in lines if line) + "\n"


EXITS = (
    "0: answered; 1: a limit is broken (check); 2: wrong usage, or an input that could not be read; 3: with --strict, "
    "something that matters could not be read; 70: a bug; 130: interrupted."
)


def _options(command: click.Command, context: click.Context) -> Iterator[str]:
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context) if isinstance(parameter, click.Option) else None
        if record is not None:
            yield from (".TP", f".B {escaped(record[0])}", escaped(record[1]))


def pages() -> dict[str, str]:
    """File name -> text, for kanalyze and each of its commands."""
    above = click.Context(cli, info_name="kanalyze", **cli.context_settings)
    found = {"kanalyze.1": page("kanalyze", cli, above)}
    for verb in cli.list_commands(above):
        command = cli.get_command(above, verb)
        assert command is not None
        found[f"kanalyze-{verb}.1"] = page(
            f"kanalyze-{verb}", command, click.Context(command, above, verb, **cli.context_settings)
        )
    return found


def main(folder: Path) -> None:
    """Writes all pages."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
