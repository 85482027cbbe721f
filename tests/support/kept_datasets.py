"""Verbs that ask the same of the same captures, one after the other, over one dataset: tests of what they say, not of reading.

A question that was asked before is answered from memory: in another format, or at another width, a verb has the same rows.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, chdir, contextmanager, nullcontext, redirect_stderr, redirect_stdout
from copy import deepcopy
from io import BytesIO, TextIOWrapper
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any
from unittest import mock

from analyzer.base.options import Options
from analyzer.base.settings import Settings
from analyzer.cli.main import main
from analyzer.query.dataset import Dataset
from analyzer.run import local


def remembering(dataset: Dataset) -> Dataset:
    """The dataset, which from now on asks its database no question twice."""
    for name in ("held", "first_rows", "query"):
        setattr(dataset, name, _once(dataset, getattr(dataset, name)))
    return dataset


def _once(dataset: Dataset, asked: Callable[..., Any]) -> Callable[..., Any]:
    known: dict[Any, Any] = {}

    def answer(sql: str, *more: Any) -> Any:
        if not sql.lstrip().upper().startswith(("SELECT", "WITH", "--", "FROM")):
            return asked(sql, *more)  # it does something
        question = sql, repr(more), dataset.settings.sql(), dataset.settings.folded(sql)
        if question not in known:
            known[question] = asked(sql, *more)
        return deepcopy(known[question])

    return answer


class KeptDatasets(ExitStack):
    """What was opened with the same options while it was `used` is not read again, until it is closed. No capture may change
    meanwhile."""

    def __init__(self) -> None:
        super().__init__()
        self._known: dict[tuple[tuple[str, ...], Options], Dataset] = {}

    @contextmanager
    def used(self) -> Iterator[None]:
        plain = local.open_dataset

        def opened(
            inputs: Sequence[str], options: Options, progress: Callable[[int], None] | None = None
        ) -> nullcontext[Any]:
            asked = tuple(inputs), options
            if asked not in self._known:
                self._known[asked] = remembering(self.enter_context(plain(inputs, options, progress)))
            self._known[asked].choose(Settings())
            return nullcontext(self._known[asked])

        with mock.patch.object(local, "open_dataset", opened):
            yield

    def run(self, arguments: Sequence[str | Path], folder: Path) -> CompletedProcess[bytes]:
        """`kanalyze ARGUMENTS` in this process, in a directory, to no terminal."""
        out, err = (TextIOWrapper(BytesIO(), "utf-8", write_through=True) for _ in range(2))
        words = [str(each) for each in arguments]
        screen = mock.patch.dict(os.environ, COLUMNS="80")
        with self.used(), chdir(folder), screen, redirect_stdout(out), redirect_stderr(err):
            code = main(words)
        told = [stream.buffer.getvalue() for stream in (out, err)]  # type: ignore[attr-defined]
        return CompletedProcess(words, code, *told)


@contextmanager
def kept_datasets() -> Iterator[None]:
    """The same for as long as it lasts."""
    with KeptDatasets() as kept, kept.used():
        yield
