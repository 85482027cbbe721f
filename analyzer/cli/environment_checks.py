"""What `kanalyze doctor` looks at: one function a line of its answer.

A check reads its environment and nothing else; it never contacts a server, and names variables that hold credentials without
their values.
"""

from __future__ import annotations

import os
import platform
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

from dissectors.constants import StaleStages

OK, NOTE, BROKEN = "ok", "note", "broken"
# A run of a large capture writes about as many bytes as it reads, at most.
LITTLE_TEMP_BYTES = 2_000_000_000
LIBRARIES = ("click", "cramjam", "cryptography", "duckdb", "google-crc32c", "pyarrow", "rich")


class Check(NamedTuple):
    """One line: what was looked at, how it is (OK; NOTE: works, but something is slower or not there; BROKEN: runs fail), what
    was found, and what to do about it (empty: nothing)."""

    name: str
    state: str
    found: str
    advice: str = ""


def check_all() -> Iterator[Check]:
    """Every check, in the order in which a person reads them."""
    for look in CHECKS:
        # `_stages` says that they are stale; what needs them cannot be looked at.
        with suppress(StaleStages):
            yield look()


def _program() -> Check:
    from analyzer.version import VERSION

    return Check("kanalyze", OK, f"{VERSION}, Python {platform.python_version()}, {platform.platform()}")


def _stages() -> Check:
    try:
        import dissectors.packet.packets as stage
    except StaleStages:
        return Check("stages", BROKEN, "compiled from an older source", "make .venv/.compiled, or install again")

    if not (stage.__file__ or "").endswith(".py"):
        return Check("stages", OK, "compiled")
    if os.environ.get("KANALYZE_UNCOMPILED", "") not in ("", "0"):
        return Check("stages", NOTE, "plain Python, as KANALYZE_UNCOMPILED asks for", "unset it: many times faster")
    return Check(
        "stages",
        NOTE,
        "plain Python: the same results, many times slower",
        "install a wheel, or install again where there are a C compiler and Python's headers"
        " (Debian: apt install gcc python3-dev)",
    )


def _libraries() -> Check:
    versions, missing = [], []
    for name in LIBRARIES:
        try:
            versions.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            missing.append(name)
    if missing:
        return Check("libraries", BROKEN, f"missing: {', '.join(missing)}", f"pip install {' '.join(missing)}")
    return Check("libraries", OK, ", ".join(versions))


def _codecs() -> Check:
    """Each codec of record batches, on what it compressed itself."""
    import cramjam

    from dissectors.kafka.messages import codecs

    sample = b"kanalyze" * 64
    compressors: dict[str, Any] = {
        "gzip": cramjam.gzip.compress,
        "snappy": cramjam.snappy.compress_raw,
        "lz4": cramjam.lz4.compress,
        "zstd": cramjam.zstd.compress,
    }
    broken = []
    for number, name in enumerate(codecs.CODECS[1:], 1):
        try:
            whole = bytes(codecs.decompress(number, bytes(compressors[name](sample)), 1 << 16)) == sample
        except (ValueError, OSError):
            whole = False
        broken += [] if whole else [name]
    if broken:
        return Check(
            "codecs", BROKEN, f"cannot open batches in {', '.join(broken)}", "pip install --force-reinstall cramjam"
        )
    return Check("codecs", OK, ", ".join(codecs.CODECS[1:]))


def _checksums() -> Check:
    import google_crc32c

    if google_crc32c.implementation == "c":
        return Check("CRC32C", OK, "by the processor")
    return Check("CRC32C", NOTE, "in plain Python, slow", "pip install --force-reinstall google-crc32c")


def _machine() -> Check:
    from analyzer.base import control_groups, memory

    groups = []
    if (limit := control_groups.memory_limit()) is not None:
        groups.append(f"{limit / 1e6:,.0f} MB")
    if (cpus := control_groups.cpu_limit()) is not None:
        groups.append(f"the time of {cpus:.3g} cores")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    questions = memory.question_memory_bytes() / 1e6
    followed = memory.connections_at_a_time()
    return Check(
        "machine",
        OK,
        f"{cores} cores; {questions:,.0f} MB for questions (--memory), {followed:,} open connections (--max-connections)"
        + (f"; control groups leave {' and '.join(groups)}" if groups else ""),
    )


def _temporary_files() -> Check:
    folder = Path(tempfile.gettempdir())
    try:
        with tempfile.TemporaryFile(dir=folder):
            free = shutil.disk_usage(folder).free
    except OSError as error:
        return Check(
            "temporary files", BROKEN, f"{folder}: {error.strerror}", "name a folder with --temp-dir or TMPDIR"
        )
    found = f"{folder}, {free / 1e9:,.1f} GB free"
    if free < LITTLE_TEMP_BYTES:
        return Check("temporary files", NOTE, found, "large captures need as much as they have: --temp-dir or TMPDIR")
    return Check("temporary files", OK, found)


def _capturing() -> Check:
    found = next((path for name in ("tcpdump", "dumpcap") if (path := shutil.which(name))), "")
    if found:
        return Check("capturing", OK, found)
    return Check(
        "capturing", NOTE, "no tcpdump here", "needed only where packets are captured (Debian: apt install tcpdump)"
    )


def _spark() -> Check:
    from analyzer.spark.session import java_problem

    missing = [name for name in ("pyspark", "pandas") if not _installed(name)]
    if missing:
        return Check(
            "Spark", NOTE, f"no {' and no '.join(missing)}", "for `kanalyze spark` only: pip install 'kanalyze[spark]'"
        )
    problem, _, advice = java_problem().partition("; ")
    if problem:
        return Check("Spark", NOTE, problem, advice)
    return Check("Spark", OK, f"PySpark {metadata.version('pyspark')}, with Java")


def _installed(name: str) -> bool:
    try:
        return bool(metadata.version(name))
    except metadata.PackageNotFoundError:
        return False


def _storage() -> Check:
    from analyzer.base.storage.environment import CREDENTIAL_VARIABLES, LOCATION_VARIABLES

    known = [name for name in (*LOCATION_VARIABLES, *CREDENTIAL_VARIABLES) if os.environ.get(name)]
    if known:
        return Check("object storage", OK, f"set: {', '.join(known)}")
    return Check("object storage", OK, "no variable is set: credentials are those of this machine, if it has any")


CHECKS: tuple[Callable[[], Check], ...] = (
    _program,
    _stages,
    _libraries,
    _codecs,
    _checksums,
    _machine,
    _temporary_files,
    _capturing,
    _spark,
    _storage,
)
