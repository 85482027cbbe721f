"""Where text with columns and colours goes to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

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
        click.echo("\n".join(line.rstrip() for line in text.splitlines()))
