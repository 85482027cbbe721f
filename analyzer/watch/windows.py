"""Windows of raw tables: which are kept, and what is asked of them."""

from __future__ import annotations

import shutil
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.base.memory import question_memory_bytes
from analyzer.ingest.run_tables import Run
from analyzer.query.dataset import Dataset
from analyzer.query.table_views import parquet
from analyzer.run import raw_views
from analyzer.run.local import FRACTION_OF_SIMPLE_PLANS
from analyzer.run.warnings import limits_reached
from analyzer.watch.carried import carry
from analyzer.watch.changing_names import ChangingNames
from dissectors.tls.keys import KeyLog

if TYPE_CHECKING:
    from analyzer.base.options import Options
    from analyzer.ingest.summary import Summary
    from analyzer.watch.told import Cut, Live
    from analyzer.watch.totals import Totals

# Rows that are asked again and again. With more exchanges in less time, less time is looked at.
MOST_EXCHANGES = 300_000
# A window with many stays until those behind it have some.
LEAST_EXCHANGES = 100_000
# Windows leave some at a time: so large a part of the time that is looked at.
PART_THAT_LEAVES = 5
_CARRIED = "carried"


class Windows:
    """The windows of the last `span_ns`, and the rows that were carried out of older ones. Files lie below `folder`; `captures` is
    what a person types to name what is watched."""

    def __init__(self, folder: Path, span_ns: int, options: Options, totals: Totals, captures: str) -> None:
        self._folder = folder
        self._span_ns = span_ns
        self._options = options
        self._names = ChangingNames(options.names)
        # Why what was given beside the captures is old: a line for a person.
        self.trouble: str | None = None
        self._captures = captures
        self._totals = totals
        self._kept: deque[Cut] = deque()
        self._carried: Path | None = None
        self._carries = 0
        self._live: Live | None = None

    def add(self, cut: Cut) -> None:
        """The newest window. Windows that leave are added to the totals, and removed."""
        if self._live is not None:
            shutil.rmtree(self._live.folder, ignore_errors=True)
        self._live = cut.live
        self.trouble = self._names.look()
        self._kept.append(cut)
        leaving = self._leaving()
        if leaving:
            self._leave(leaving, cut.live)

    @property
    def begin_ns(self) -> int | None:
        """The time from which on windows are kept; None: all of the capture so far."""
        return self._kept[0].begin_ns if self._carried is not None and self._kept else None

    @property
    def is_whole(self) -> bool:
        """Whether nothing has left yet: then what is kept is the capture."""
        return self._carried is None

    def dataset(self) -> Dataset:
        """What the last windows hold, and what is open."""
        assert self._live is not None
        return self._dataset(list(self._kept), self._live)

    def _leaving(self) -> list[Cut]:
        """The oldest windows that are too old or too many; none where they are few, as leaving has its price."""
        newest = self._kept[-1].end_ns
        if newest is None or len(self._kept) < 2:
            return []
        candidates = list(self._kept)[:-1]
        old = [each for each in candidates if each.end_ns is not None and each.end_ns < newest - self._span_ns]
        rows = sum(each.rows["exchanges"] for each in self._kept)
        many = 0
        while many < len(candidates) and rows > MOST_EXCHANGES:
            rows -= candidates[many].rows["exchanges"]
            if rows < LEAST_EXCHANGES:
                break
            many += 1
        if many:
            return candidates[: max(many, len(old))]
        length = (old[-1].end_ns or 0) - (old[0].begin_ns or old[0].end_ns or 0) if old else 0
        return old if length * PART_THAT_LEAVES >= self._span_ns else []

    def _leave(self, leaving: Sequence[Cut], live: Live) -> None:
        """Windows go where their rows are added up; what later rows need of them is carried on."""
        folders = [each.folder for each in leaving]
        told, ended = (_files(folders, name) for name in ("exchanges", "parts"))
        following = list(self._kept)[len(leaving) : len(leaving) + 1]
        if told:
            with self._dataset([*leaving, *following], live, told) as dataset:
                self._totals.add_exchanges(dataset)
        if ended:
            with self._dataset(leaving, live, told, ended) as dataset:
                self._totals.add_connections(dataset)
        before, self._carries = self._carried, self._carries + 1
        self._carried = self._folder / f"carried{self._carries}"
        carry([*([before] if before else []), *folders], live.folder, self._carried)
        for folder in (*([before] if before else []), *folders):
            shutil.rmtree(folder, ignore_errors=True)
        for _ in leaving:
            self._kept.popleft()

    def _dataset(
        self, cuts: Sequence[Cut], live: Live, leaving: Sequence[Path] | None = None, ended: Sequence[Path] = ()
    ) -> Dataset:
        """A dataset of windows and live rows. Its exchanges are those of the files `leaving`, None: all but those that were carried
        on; with `ended` its connections are those of these files."""
        folders = [*([self._carried] if self._carried else []), *(each.folder for each in cuts)]
        rows = sum((each.rows for each in cuts), Counter[str]()) + live.summary.rows
        summary = replace(live.summary, rows=rows)
        run = Run(live.readings, summary, KeyLog(), [*folders, live.folder])
        views = raw_views.views(live.folder, run, self._options)
        whole = [path for folder in (*folders, live.folder) if (path := folder / "raw_whole.parquet").exists()]
        views["raw_whole"] = f"SELECT DISTINCT part FROM ({parquet(whole)})"
        if self._carried is not None:
            views[_CARRIED] = parquet([self._carried / "raw_exchanges.parquet"])
        scope = "exchange NOT IN (SELECT exchange FROM carried)"
        if leaving is not None:
            scope = "exchange IN (SELECT exchange FROM leaving)" if leaving else "false"
            views["leaving"] = parquet(leaving or [live.folder / "raw_exchanges.parquet"])
        if leaving is not None or self._carried is not None:
            views["exchanges"] = f"SELECT * FROM (\n{views['exchanges']}\n) AS x WHERE {scope}"
        if ended:
            framed = _files([path.parent for path in ended], "framed_parts")
            views["raw_parts"] = parquet(ended)
            views["raw_framed_parts"] = parquet(framed) if framed else f"{views['raw_framed_parts']} WHERE false"
        begin = cuts[0].begin_ns
        if self._carried is not None and begin is not None:
            views["captures"] = _from(views["captures"], begin)
        small = raw_views.is_small(summary)
        options = replace(self._options, memory_bytes=self._options.memory_bytes or _memory_bytes(live, summary))
        dataset = Dataset(
            views,
            types=raw_views.types(run, options),
            materialized=raw_views.computed_once(summary, options),
            in_file=raw_views.in_file(summary, options),
            threads=1 if small else None,
            simple_plans=raw_views.is_small(summary, FRACTION_OF_SIMPLE_PLANS),
            filters=options.filters,
            names=self._names.names,
            limits=limits_reached(summary),
            memory_bytes=options.memory_bytes,
            temp_directory=self._folder,
        )
        dataset.captures = self._captures
        return dataset


def _memory_bytes(live: Live, summary: Summary) -> int:
    """What questions may take: as of a capture that is as large as all that was read so far."""
    captured_bytes = sum(reading.bytes for reading in live.readings)
    return question_memory_bytes(captured_bytes, raw_views.many_connections(summary))


def _files(folders: Sequence[Path], name: str) -> list[Path]:
    """The files of a raw table; a window without rows has none."""
    return [path for folder in folders if (path := folder / f"raw_{name}.parquet").exists()]


def _from(captures: str, begin_ns: int) -> str:
    """The captures, as if they began there."""
    return (
        f"SELECT * REPLACE (greatest(first_time_ns, {begin_ns}) AS first_time_ns) FROM ({captures}) AS c "
        f"WHERE last_time_ns IS NULL OR last_time_ns >= {begin_ns}"
    )
