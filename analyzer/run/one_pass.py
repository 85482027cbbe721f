"""Captures read in one pass by one process: all of a small capture or of a pipe, or the connections of one shard."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.ingest.run_tables import Run
from analyzer.inputs.input import ALL_CONNECTIONS, Shard
from analyzer.inputs.readings import Reading
from analyzer.inputs.sources import STANDARD_INPUT, Source

if TYPE_CHECKING:
    from analyzer.base.options import Options
    from analyzer.ingest.pipeline import FrameHook, Pipeline
    from dissectors.tls.keys import KeyLog

# Processes that share a capture number their parts from multiples of 1 << PART_SHIFT on.
PART_SHIFT = 40


def read_captures(
    sources: Sequence[Source],
    folder: Path,
    options: Options,
    *,
    hook: FrameHook | None = None,
    progress: Callable[[int], None] | None = None,
    keys: KeyLog | None = None,
    shard: Shard = ALL_CONNECTIONS,
) -> tuple[list[Reading], Pipeline]:
    """One pass over the sources by this process, which takes the connections of `shard`. Raw tables grow in `folder`.

    `hook` sees each batch of frames while their bytes are there. `keys` are the secrets of TLS sessions when they are known
    already. A capture may bring secrets later than the packets that need them: then there is a second pass, unless a hook has
    seen the first one.
    """
    from analyzer.ingest.pipeline import Pipeline
    from analyzer.ingest.tls_facts import add_secrets, read_key_logs
    from analyzer.inputs.engine import Engine

    keys = read_key_logs(options.tls_key_logs) if keys is None else keys
    pipeline = Pipeline(folder, options, hook, keys, first_part=shard.number << PART_SHIFT, parks=True)
    try:
        secrets = partial(add_secrets, keys)
        taps, decode_as = options.taps, options.decode_as
        engine = Engine(pipeline.feed, secrets=secrets, taps=taps, shard=shard, decode_as=decode_as)
        readings = engine.read_all(sources, progress)
        pipeline.finish()
    finally:
        pipeline.close()
    if keys.came_late and not hook and all(source.name != STANDARD_INPUT for source in sources):
        return read_captures(sources, folder, options, keys=keys.afresh(), shard=shard)
    return readings, pipeline


def run_of(done: tuple[list[Reading], Pipeline], folders: list[Path]) -> Run:
    """What a pass gave; `folders` hold its raw tables and those of the other processes that share the capture."""
    readings, pipeline = done
    return Run(readings, pipeline.summary(), pipeline.keys, folders)
