"""How much memory this process may use, how much of it questions may take, how many connections fit into it, and what it keeps."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import suppress

from analyzer.base.control_groups import memory_limit

# Questions get this part of what there is, within these bounds: the rest is for reading captures and for other programs.
PART_FOR_QUESTIONS = 4
LEAST_FOR_QUESTIONS = 256_000_000
MOST_FOR_QUESTIONS = 4_000_000_000
# No more than so many times the bytes of the captures: the engine takes what it may, though less would do.
QUESTIONS_PER_CAPTURED = 4
# Of very many connections, whose tables are in a file (`analyzer.run.raw_views`), this and this part of their bytes is enough. (A
# million SYNs, 70 MB, need more than 290 MB.)
LEAST_FOR_MANY_CONNECTIONS = 400_000_000
PART_FOR_MANY_CONNECTIONS = 2
# Connections that are followed get this part, at so much for each (`analyzer.ingest.idle_connections`; one that is decrypted keeps
# its ciphers and secrets while it is idle), within these bounds.
PART_FOR_CONNECTIONS = 8
CONNECTION_BYTES = 750
DECRYPTED_CONNECTION_BYTES = 3_000
LEAST_CONNECTIONS = 100_000
MOST_CONNECTIONS = 5_000_000
# glibc's mallopt(3): by how much more than is asked for a heap grows, and how much free memory at its end stays, both as large as a
# thread's heap; how much free memory at the end of the process's own heap stays; and from which size on memory is mapped for one
# piece alone, the largest size that it takes.
M_TOP_PAD, HEAP_BYTES = -2, 64 << 20
M_TRIM_THRESHOLD, TRIM_BYTES = -1, 128 << 20
M_MMAP_THRESHOLD, MMAP_BYTES = -3, 32 << 20
OBJECTS_BETWEEN_LOOKS = 100_000


def look_for_cycles_seldom() -> None:
    """What a run loads stays, and little of what it makes is cyclic: to look for cycles as often as Python does takes 5 % of it."""
    gc.set_threshold(OBJECTS_BETWEEN_LOOKS)


def keep_freed_memory() -> None:
    """Lets glibc keep the heap of a thread that is empty for a moment, and pieces of some MB that were freed; elsewhere nothing.

    It unmaps both otherwise, and what comes next touches new pages: two of three page faults of a small report, a seventh of its
    CPU time; a twentieth of that of a task.
    """
    with suppress(ImportError, OSError, AttributeError):
        import ctypes

        library = ctypes.CDLL(None)
        library.mallopt(M_TOP_PAD, HEAP_BYTES)
        library.mallopt(M_TRIM_THRESHOLD, TRIM_BYTES)
        library.mallopt(M_MMAP_THRESHOLD, MMAP_BYTES)


def question_memory_bytes(captured_bytes: int | None = None, many_connections: bool = False) -> int:
    """Memory for the SQL engine where nobody says how much: a quarter of the machine's, 256 MB to 4 GB; and for questions about
    captures of so many bytes no more than four times as many, or half as many and what any needs where tables are in a file."""
    most = min(_limits(), default=LEAST_FOR_QUESTIONS) // PART_FOR_QUESTIONS
    if captured_bytes is not None:
        some = LEAST_FOR_MANY_CONNECTIONS + captured_bytes // PART_FOR_MANY_CONNECTIONS
        most = min(most, some if many_connections else QUESTIONS_PER_CAPTURED * captured_bytes)
    return min(max(most, LEAST_FOR_QUESTIONS), MOST_FOR_QUESTIONS)


def connections_at_a_time(decrypts: bool = False) -> int:
    """Connections that are followed at a time where nobody says how many: 100,000 to 5 million. `decrypts`: with TLS secrets."""
    each = DECRYPTED_CONNECTION_BYTES if decrypts else CONNECTION_BYTES
    most = min(_limits(), default=0) // PART_FOR_CONNECTIONS // each
    return min(max(most, LEAST_CONNECTIONS), MOST_CONNECTIONS)


def give_back() -> None:
    """Gives the system the pages that nothing uses any more: allocators keep them, and what comes next would need as many anew."""
    gc.collect()  # what refers to each other would keep its matrices
    if "pyarrow" in sys.modules:
        sys.modules["pyarrow"].default_memory_pool().release_unused()
    with suppress(ImportError, OSError, AttributeError):  # other C libraries than glibc have no such function
        import ctypes

        ctypes.CDLL(None).malloc_trim(0)


def _limits() -> Iterator[int]:
    """Bytes that the machine has, that control groups leave, and that `ulimit -v` does; those that are known."""
    with suppress(ValueError, OSError, AttributeError):
        yield os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if (group := memory_limit()) is not None:
        yield group
    with suppress(ImportError, OSError):
        import resource

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        if limit != resource.RLIM_INFINITY:
            yield limit
