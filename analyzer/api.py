"""The Python API: captures as tables, metrics and findings, for notebooks and programs.

    import analyzer

    with analyzer.read("capture.pcap") as cap:
        cap.exchanges.to_pandas()
        cap.sql("select client_id, count(*) as n from exchanges group by all").to_pandas()
        cap.latency(by=["api", "client"]).to_pandas()
        cap.findings

Tables are Arrow tables with the columns of `analyzer.base.tables`; times are int64 ns since the epoch, null means not
known.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from analyzer.base.filters import Filters
from analyzer.base.options import Options
from analyzer.base.settings import Settings
from analyzer.base.tables import TABLES

if TYPE_CHECKING:
    import pyarrow

    from analyzer.query.dataset import Dataset
    from analyzer.query.incidents import Finding

    Path = str | PathLike[str]
    Words = str | Iterable[str]


def read(
    inputs: Path | Sequence[Path],
    *,
    client: Words = (),
    broker: Words = (),
    api: Words = (),
    topic: Words = (),
    from_ns: int | None = None,
    to_ns: int | None = None,
    **options: Any,
) -> Capture:
    """Reads captures (paths, globs, directories, URIs), or one exported dataset, into tables.

    The filters are those of the command line: globs, one or several. `from_ns` (included) and `to_ns` (not included)
    bound the time, ns since the epoch. `options` are fields of `analyzer.base.options.Options`, such as `ports=(19092,)`.
    Raises `analyzer.inputs.sources.InputError` (an OSError) when nothing could be read,
    `analyzer.query.dataset.DatasetError` for a directory that is no dataset, ValueError for an invalid filter.
    `Capture.warnings` has all else that could not be read.
    """
    from analyzer.run.local import open_dataset

    names = [inputs] if isinstance(inputs, str | PathLike) else list(inputs)
    filters = Filters(_words(client), _words(broker), _words(api), _words(topic), from_ns, to_ns)
    paths = [fspath(name) for name in names]
    asked = Options(filters=filters, **options)
    return Capture(paths, asked, open_dataset(paths, asked))


def _words(words: Words) -> tuple[str, ...]:
    return (words,) if isinstance(words, str) else tuple(words)


class _Table:
    """A table of `analyzer.base.tables` as an attribute: an Arrow table, narrowed by the filters."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name
        self.__doc__ = f"The table `{name}` as an Arrow table: {', '.join(column.name for column in TABLES[name])}."

    def __get__(self, capture: Capture | None, owner: type) -> pyarrow.Table:
        if capture is None:
            return self
        return capture.sql(f"SELECT * FROM {self.name}")


class Capture:
    """Captures that were read. Leaving it as a context manager, or `close`, removes its temporary files."""

    captures = _Table()
    connections = _Table()
    exchanges = _Table()
    entries = _Table()
    errors = _Table()
    problems = _Table()
    fetch_positions = _Table()
    mutes = _Table()
    batches = _Table()
    group_events = _Table()
    assignments = _Table()
    transaction_events = _Table()
    logins = _Table()
    topic_ids = _Table()
    brokers = _Table()
    offered_versions = _Table()

    def __init__(self, inputs: Sequence[str], options: Options, dataset: Dataset) -> None:
        self._inputs = inputs
        self._options = options
        self._dataset = dataset

    @property
    def warnings(self) -> tuple[str, ...]:
        """What could not be read, a line each; empty when all was well."""
        return self._dataset.warnings

    @property
    def findings(self) -> Findings:
        """What needs attention, the worst first."""
        from analyzer.query.run_findings import find

        return Findings(find(self._dataset))

    def sql(self, query: str) -> pyarrow.Table:
        """The rows of a SELECT over the tables (DuckDB's SQL). Raises `analyzer.query.dataset.DatasetError`."""
        return self._dataset.arrow(query)

    def metric(self, name: str, by: Sequence[str] = (), every_ns: int | None = None) -> pyarrow.Table:
        """The rows of a file of `analyzer/query/metrics`: `by` groups (see `analyzer.base.settings.DIMENSIONS`),
        `every_ns` cuts the time into slots. An unknown name is a KeyError, an unknown dimension a ValueError.
        """
        from analyzer.query.metrics import text

        self._dataset.choose(Settings(tuple(by), every_ns))
        try:
            return self._dataset.arrow(text(name))
        finally:
            self._dataset.choose(Settings())

    def latency(self, by: Sequence[str] = (), every_ns: int | None = None) -> pyarrow.Table:
        """Latency by API and kind of wait, or by other dimensions, over time when `every_ns` is given."""
        return self.metric("latency", by, every_ns)

    def throttle(self, by: Sequence[str] = (), every_ns: int | None = None) -> pyarrow.Table:
        """Who is throttled, how long, how much of its time."""
        return self.metric("throttle", by, every_ns)

    def show(self, exchange: int | str) -> Text:
        """Both messages of an exchange as trees: by its id (a number of the table, or 16 hex digits) or a packet
        (`"#1234"`). Secrets are not shown. Raises KeyError when there is no such exchange, ValueError for another word.
        """
        from analyzer.messages.bodies import each_message
        from analyzer.messages.exchange_text import lines, matching

        word = f"{exchange:016x}" if isinstance(exchange, int) else exchange
        found = matching(self._dataset, word)
        if not found:
            raise KeyError(f"no exchange {word}")
        paths = {row["file"]: row["path"] for row in self._dataset.query("SELECT file, path FROM captures")}
        shown: list[str] = []

        def take(row: dict[str, Any], request: bytes | None, response: bytes | None) -> None:
            shown.extend(lines(paths, row, request, response))

        each_message(self._dataset, self._inputs, self._options, take, found)
        return Text("\n".join(shown))

    def report(self, width: int = 120) -> Text:
        """The report that `kanalyze CAPTURE` prints."""
        from io import StringIO

        from rich.console import Console

        from analyzer.report.facts import facts_of_report
        from analyzer.report.terminal import print_report

        console = Console(file=StringIO(), width=width, color_system=None, force_terminal=False)
        with facts_of_report(self._dataset) as facts:
            print_report(facts, console)
        file = console.file
        assert isinstance(file, StringIO)
        return Text(file.getvalue())

    def close(self) -> None:
        """Frees the tables; a second call does nothing."""
        self._dataset.close()

    def __enter__(self) -> Capture:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<analyzer.Capture of {', '.join(self._inputs)}>"

    def _repr_html_(self) -> str:
        return self.report(100)._repr_html_()


class Text(str):
    """Text that a notebook shows as it is, in a fixed width."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self)}</pre>"


class Findings(list["Finding"]):
    """Findings as a list; a notebook shows them as a table."""

    def __repr__(self) -> str:
        return "\n".join(f"{severity:<7} {sentence}" for severity, sentence, _ in self._sentences())

    def _repr_html_(self) -> str:
        cells = (
            f"<tr><td>{escape(severity)}</td><td>{escape(sentence)}</td><td><code>{escape(look)}</code></td></tr>"
            for severity, sentence, look in self._sentences()
        )
        return f"<table><tr><th>severity</th><th>finding</th><th>look</th></tr>{''.join(cells)}</table>"

    def _sentences(self) -> Iterable[tuple[str, str, str]]:
        from analyzer.report.sentences import command, sentence

        for each in self:
            yield each.severity, sentence(each.rule.says, each.row), command(each.rule.look, each.row)
