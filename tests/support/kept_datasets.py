"""Verbs that ask the same of the same captures, one after the other, over one dataset: tests of what they say, not of reading."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from typing import Any
from unittest import mock

from analyzer.base.options import Options
from analyzer.base.settings import Settings
from analyzer.query.dataset import Dataset
from analyzer.run import local


@contextmanager
def kept_datasets() -> Iterator[None]:
    """While it lasts, what was opened with the same options is not read again. No capture may change meanwhile."""
    known: dict[tuple[tuple[str, ...], Options], Dataset] = {}
    plain = local.open_dataset
    with ExitStack() as until:

        def opened(
            inputs: Sequence[str], options: Options, progress: Callable[[int], None] | None = None
        ) -> nullcontext[Any]:
            asked = tuple(inputs), options
            if asked not in known:
                known[asked] = until.enter_context(plain(inputs, options, progress))
            known[asked].choose(Settings())
            return nullcontext(known[asked])

        with mock.patch.object(local, "open_dataset", opened):
            yield
