"""The messages of the slowest requests as lines, read again from the captures where these are at hand."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from analyzer.base.storage.addresses import is_storage_uri
from analyzer.inputs.sources import InputError
from analyzer.messages.bodies import each_message
from analyzer.messages.exchange_text import context, lines
from analyzer.page.page_tables import text

if TYPE_CHECKING:
    from analyzer.base.options import Options
    from analyzer.query.dataset import Dataset

# Of longer messages a page has the beginning; `kanalyze show` has them whole.
MOST_LINES = 400


def slowest_trees(
    dataset: Dataset, inputs: Sequence[str], options: Options, exchanges: Sequence[int]
) -> dict[int, list[str]]:
    """Exchange -> its lines as `kanalyze show` prints them, without secrets. Empty where the captures are not at hand: they were
    read from a pipe, moved, or lie in object storage, whose second reading nobody asked for.
    """
    paths = [row["path"] for row in dataset.query("SELECT path FROM all_captures")]
    if not exchanges or "-" in paths or any(is_storage_uri(path) for path in paths):
        return {}
    about = context(dataset, exchanges)
    found: dict[int, list[str]] = {}

    def take(row: dict[str, Any], request: bytes | None, response: bytes | None) -> None:
        shown = [text(line) for line in islice(lines(about, row, request, response), MOST_LINES + 1)]
        if len(shown) > MOST_LINES:
            shown[MOST_LINES:] = ["..."]
        found[row["exchange"]] = shown

    try:
        each_message(dataset, inputs, options, take, exchanges)
    except (InputError, FileNotFoundError):
        return {}
    return found
