"""A run on this machine: captures -> raw tables in a temporary directory -> a Dataset that verbs ask.

An input that cannot be read is named in `Dataset.warnings` and sets `Dataset.failed`; the others are analysed all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analyzer.base import retyped_inputs, temp_folders
from analyzer.base.memory import give_back, question_memory_bytes
from analyzer.ingest.run_tables import Run, by_file, small_tables
from analyzer.inputs.expansion import expand
from analyzer.inputs.sources import InputError
from analyzer.names.given_names import names_of
from analyzer.query.dataset import Dataset
from analyzer.query.exported import is_dataset
from analyzer.query.exported import open_dataset as open_exported
from analyzer.query.several_datasets import open_datasets
from analyzer.run import raw_views, strategy
from analyzer.run.warnings import (
    input_warnings,
    is_unreadable,
    limit_warnings,
    limits_reached,
    passed_over_warning,
    secret_warnings,
)

if TYPE_CHECKING:
    import pyarrow as pa

    from analyzer.base.options import Options
    from analyzer.distributed.plan import Plan
    from analyzer.inputs.readings import Reading
    from analyzer.inputs.sources import Source

# With at most this fraction of the rows of a small capture, a search for a better plan takes longer than any plan.
FRACTION_OF_SIMPLE_PLANS = 0.05
# Of smaller captures, which have few rows, stages leave less memory than is worth the search for it.
LEAST_BYTES_TO_GIVE_BACK = 32_000_000


def open_dataset(inputs: Sequence[str], options: Options, progress: Callable[[int], None] | None = None) -> Dataset:
    """The tables of captures, or of exported directories. Raises InputError when nothing at all could be read.

    `progress` is called with the number of bytes of each block that was read.
    """
    dataset = _opened(inputs, options, progress)
    dataset.captures = retyped_inputs.arguments(inputs, options)
    return dataset


def _opened(inputs: Sequence[str], options: Options, progress: Callable[[int], None] | None) -> Dataset:
    if is_dataset(inputs[0]):
        if options.request_logs:
            raise InputError(
                "a log of requests is joined when captures are read: give --request-log to `kanalyze export`"
            )
        given: dict[str, Any] = {
            "filters": options.filters,
            "names": names_of(options),
            "memory_bytes": options.memory_bytes,
            "temp_directory": options.temp_dir,
            "unsafe_sql": options.unsafe_sql,
        }
        return open_exported(inputs[0], **given) if len(inputs) == 1 else open_datasets(inputs, **given)
    found = expand(inputs)
    if logs := found.logs():
        return _of_logs(logs, options, progress)
    warnings = [str(error) for error in found.errors]
    if not found.sources:
        raise InputError("\n".join(warnings))
    failed = bool(warnings)
    if found.passed_over:
        warnings.append(passed_over_warning(found.passed_over))

    way = strategy.choose(found.sources, options, progress)
    return dataset_of(way.read, way.options, warnings, failed)


def _of_logs(logs: Sequence[Source], options: Options, progress: Callable[[int], None] | None) -> Dataset:
    """The tables of brokers' logs of requests without a capture."""
    from analyzer.run.log_pass import read_logs_alone

    if options.request_logs:
        raise InputError("--request-log is joined with packets: give a capture, or the logs alone without this option")
    small = replace(options, tables=None, seldom=True) if strategy.is_small(logs) else options
    return dataset_of(lambda folder: read_logs_alone(logs, folder, progress), small, [], False)


def open_plan(plan: Plan, options: Options, progress: Callable[[int], None] | None = None) -> Dataset:
    """The tables of captures that processes read task by task: the rows of a run over all of it, unless a limit is hit."""
    from analyzer.distributed import pool

    return dataset_of(lambda folder: pool.read(plan, folder, options, progress), options, [], False)


def _span(readings: Sequence[Reading]) -> tuple[int | None, int | None]:
    """The first and the last moment of the captures, ns."""
    first = [each.first_time_ns for each in readings if each.first_time_ns is not None]
    last = [each.last_time_ns for each in readings if each.last_time_ns is not None]
    return min(first, default=None), max(last, default=None)


def dataset_of(
    run: Callable[[Path], Run],
    options: Options,
    warnings: list[str],
    failed: bool,
    behind: Callable[[str, pa.Table], pa.Table] = lambda _, table: table,
    views: Mapping[str, str] | None = None,
) -> Dataset:
    """Lets `run` read captures into a temporary directory, which lives as long as the dataset over its tables.

    `warnings` are those of what came before; `failed`: an input could not be read. `behind` gives small tables the rows of
    captures that were read before these; `views` replace those of the same name. Raises InputError when no input could
    be read.
    """
    import pyarrow.parquet as pq

    names = names_of(options)
    folder = temp_folders.make(options.temp_dir)
    try:
        done = run(folder)
        readings = by_file(done.readings)
        captured_bytes = sum(reading.bytes for reading in readings)
        if captured_bytes > LEAST_BYTES_TO_GIVE_BACK or not raw_views.is_small(done.summary):
            give_back()  # questions need the memory that stages had
        warnings += [line for reading in readings for line in input_warnings(reading)]
        warnings += limit_warnings(done.summary)
        if all(reading.failure for reading in readings):
            raise InputError("\n".join(warnings))
        warnings += secret_warnings(done.keys)
        memory = options.memory_bytes or question_memory_bytes(captured_bytes, raw_views.many_connections(done.summary))
        options = replace(options, memory_bytes=memory, filters=options.filters.at(*_span(readings)))
        if options.request_logs:
            from analyzer.request_log.log_reader import read_logs

            logs = read_logs(tuple(dict.fromkeys(options.request_logs)), folder / raw_views.REQUEST_LOG)
            warnings += [line for log in logs for line in log.warnings()]
            failed = failed or any(log.failure for log in logs)
        for name, table in small_tables(done.readings, done.summary).items():
            pq.write_table(behind(name, table), folder / f"{name}.parquet")
        dataset = Dataset(
            raw_views.views(folder, done, options) | dict(views or {}),
            materialized=raw_views.computed_once(done.summary, options),
            in_file=raw_views.in_file(done.summary, options),
            types=raw_views.types(done, options),
            # Where all is small, handing work to a second thread takes longer than the work.
            threads=1 if raw_views.is_small(done.summary) else None,
            simple_plans=raw_views.is_small(done.summary, FRACTION_OF_SIMPLE_PLANS),
            filters=options.filters,
            names=names,
            cleanup=lambda: temp_folders.remove(folder),
            warnings=warnings,
            failed=failed or any(map(is_unreadable, readings)),
            limits=limits_reached(done.summary),
            memory_bytes=options.memory_bytes,
            temp_directory=folder,
            files_in=None if options.unsafe_sql else (folder,),
        )
        dataset.tls_keys = done.keys
        return dataset
    except BaseException:
        temp_folders.remove(folder)
        raise
