"""The names that a run is given, read once and before its captures: what reads files of names loads only where there are any."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from analyzer.base.options import Options
    from analyzer.names.name_table import Names


def names_of(options: Options) -> Names | None:
    """The names of addresses that a person gave; None: none. Raises NamesError."""
    if not options.names:
        return None
    from analyzer.names.name_table import read

    return read(options.names)
