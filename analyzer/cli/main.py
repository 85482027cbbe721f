"""Entry point of `kanalyze`.

Start-up is part of the product (`kanalyze --version` in 0.15 s), so nothing here may import Arrow, DuckDB or rich, and
a command's file is imported only when the command is used. A command is one file of `commands/`, named like the verb,
that defines `command`: adding the file adds the command.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import click

from analyzer.base.memory import look_for_cycles_seldom
from analyzer.version import VERSION

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

COMMANDS = Path(__file__).parent / "commands"
DEFAULT = "report"


@cache
def verbs() -> tuple[str, ...]:
    """Every command, by the names of the files in `commands/`."""
    names = (path.stem for path in COMMANDS.glob("*.py") if not path.stem.startswith("_"))
    return tuple(sorted(name.replace("_", "-") for name in names))


# What a person asks -> the verbs that answer it, as the list of --help has them.
QUESTIONS = {
    "What is going on?": ("report", "findings", "watch", "html", "trace"),
    "What is slow, throttled or failing?": ("latency", "throttle", "errors", "unanswered", "impact", "profile"),
    "Who takes part, and how?": (
        "clients", "connections", "brokers", "topics", "partition", "groups", "transactions", "zones", "readiness",
    ),
    "Which requests, and what is in them?": ("exchanges", "show", "dump", "extract"),
    "What changed, and is it within limits?": ("diff", "check"),
    "How do I work with the tables?": ("sql", "export", "spark"),
    "How do I give a capture away?": ("redact",),
    "How do I use this program?": ("help", "doctor", "completion", "schema", "decode"),
}  # fmt: skip
# Of words that look like these one is suggested.
_OWN_OPTIONS = ("--version", "--help")


class Verbs(click.Group):
    """The commands, each loaded on first use; a first word that is none of them is a capture to report on."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands by question."""
        widest = max(map(len, verbs()))
        for question, names in QUESTIONS.items():
            formatter.write_paragraph()
            formatter.write(f"{question}\n")
            rows = []
            for name in names:
                command = self.get_command(ctx, name)
                assert command is not None, name
                rows.append((name.ljust(widest), command.get_short_help_str(80)))
            with formatter.indentation():
                formatter.write_dl(rows)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(verbs())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in verbs():
            return None
        module = import_module(f"analyzer.cli.commands.{cmd_name.replace('-', '_')}")
        command = module.command
        assert isinstance(command, click.Command)
        from analyzer.cli.json_schemas import has_schema, what
        from analyzer.cli.verb_help import with_manners

        command.name = cmd_name
        return with_manners(command, what(cmd_name) if has_schema(cmd_name) else None)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Verbs, and captures: a first word may be either."""
        from click.shell_completion import CompletionItem

        return [*super().shell_complete(ctx, incomplete), CompletionItem(incomplete, type="file")]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        own = ("--help", "-h", "--version", *verbs())
        # What a shell completes is half a line yet.
        if args and not ctx.resilient_parsing and args[0] not in own:
            refuse_mistyped_verb(ctx, args[0])
            args = [DEFAULT, *args]
        return super().parse_args(ctx, args)


def refuse_mistyped_verb(ctx: click.Context, word: str) -> None:
    """Stops `kanalyze exchange x.pcap` before it is taken for a report on a file called "exchange"."""
    from difflib import get_close_matches

    if word.startswith("--") and (near := get_close_matches(word, _OWN_OPTIONS, n=1, cutoff=0.8)):
        raise click.UsageError(f"No such option {word!r}. Did you mean {near[0]!r}?", ctx)
    if word.startswith("-") or "/" in word or "." in word or Path(word).exists():
        return
    near = get_close_matches(word, verbs(), n=1, cutoff=0.75)
    if near:
        raise click.UsageError(f"no command and no file is called {word!r}; did you mean {near[0]!r}?", ctx)


@click.group(
    cls=Verbs,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="`kanalyze CAPTURE...` is short for `kanalyze report CAPTURE...`. Each command has its own --help.",
)
@click.version_option(VERSION, prog_name="kanalyze", message="%(prog)s %(version)s")
def cli() -> None:
    """Read packet captures of Kafka traffic; report what is slow, throttled or failing, and for whom.

    A CAPTURE is a pcap or pcapng file (.gz, .bz2, .xz, .zst and .lz4 too), a directory of them, a glob, the same in object storage
    (s3://BUCKET/KEY, gs://, abfss://), `-` for standard input, or a directory that `kanalyze export` wrote.
    """


def main(arguments: Sequence[str]) -> int:
    """Runs one command line and answers its exit code; docs/cli.md has a table of them.

    70 is a bug of ours: one line on stderr, and the traceback when KANALYZE_DEBUG=1.
    """
    from analyzer.cli import outcome

    outcome.prepare()
    try:
        with cli.make_context("kanalyze", list(arguments)) as context:
            code = cli.invoke(context)
        sys.stdout.flush()
    # Not swallowed: `explain` says every one of them in a line, and gives bugs an exit code of their own.
    except BaseException as error:
        return outcome.explain(error)
    return outcome.ended(int(code or 0))


def run() -> None:
    """The `kanalyze` script."""
    # Arrow's own allocator takes memory in huge pages, and clears each of them, for tables that are gone in a moment.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    look_for_cycles_seldom()
    # Arrow looks for both wherever they are installed, which takes longer than most captures; no verb but `spark` uses them.
    if sys.argv[1:2] != ["spark"]:
        for name in ("numpy", "pandas"):
            sys.modules.setdefault(name, None)  # type: ignore[arg-type]
    # NumPy would start a thread per core: they take address space, and have nothing to do.
    for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    if "_KANALYZE_COMPLETE" in os.environ:
        from click.shell_completion import shell_complete

        code = int(shell_complete(cli, {}, "kanalyze", "_KANALYZE_COMPLETE", os.environ["_KANALYZE_COMPLETE"]))
    else:
        code = main(sys.argv[1:])
    # `main` has said what is wrong with a stream that takes no more.
    with suppress(OSError):
        sys.stdout.flush()
    # Files and processes are gone by now. To take the interpreter apart object by object would take some 50 ms more.
    os._exit(code)
