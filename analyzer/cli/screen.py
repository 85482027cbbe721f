"""Where text with columns and colours goes to."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from analyzer.cli.verb_help import NO_PAGER

if TYPE_CHECKING:
    from rich.console import Console


@contextmanager
def screen(width: int | None = None) -> Iterator[Console]:
    """A console (None: as wide as the terminal), written to stdout at the end: rich alone would take a closed pipe for
    an error of its own, and end the run."""
    from rich.console import Console

    console = Console(width=width, highlight=False)
    with console.capture() as capture:
        yield console
    if text := capture.get():
        _put([line.rstrip() for line in text.splitlines()], console.height)


def _put(lines: list[str], height: int) -> None:
    """To the screen; by way of a pager where a person looks and the lines are more than fit."""
    text = "\n".join(lines)
    context = click.get_current_context(silent=True)
    wanted = context is not None and not context.meta.get(NO_PAGER) and sys.stdin.isatty() and sys.stdout.isatty()
    pager = os.environ.get("KANALYZE_PAGER", os.environ.get("PAGER", "less"))
    if not wanted or len(lines) < height or pager in ("", "cat") or os.environ.get("TERM", "dumb") == "dumb":
        click.echo(text)
        return
    import subprocess  # not for those who read no screen full

    # What less does: colours as they are, nothing cleared behind it, no stop at what fits.
    environment = {"LESS": "FRX", "LESSCHARSET": "utf-8", **os.environ}
    try:
        with subprocess.Popen(shlex.split(pager), stdin=subprocess.PIPE, env=environment) as process:
            try:
                process.communicate(f"{text}\n".encode("utf-8", "backslashreplace"))
            # Ctrl-C belongs to the pager, which goes on.
            except KeyboardInterrupt:
                process.wait()
    except (OSError, ValueError):
        click.echo(text)
