"""`ulimit -v` and `ulimit -d`: limits of the kernel on what a process maps, which no library expects to meet.

Libraries end the process where a thread's stack or their tables cannot be mapped, with a line of theirs or none. So what a run maps
is compared with the limits before an engine is loaded, and where there is a limit threads share heaps.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

# Mapped by a report of a small capture: libraries, the engine's and Arrow's threads, their heaps (930 MB with two cores); and
# what a large one takes in addition, reassembly and questions at their least.
LEAST_MAPPED = 1_500_000_000
# Of this what is no file: libraries are some 500 MB.
LEAST_DATA = 1_000_000_000
_SMALL = 16_000_000_000
# glibc's mallopt(3): how many heaps threads share. Each is mapped in pieces of 64 MB.
_M_ARENA_MAX, _HEAPS = -8, 2


class TooLittleMemory(MemoryError):
    """A limit leaves too little for a run; the message is a line for a person."""


def check_limits() -> None:
    """Raises TooLittleMemory where a limit leaves too little; where it leaves enough for careful use, sees to that."""
    limits = list(_limits())
    for option, limit, least in limits:
        if limit < least:
            raise TooLittleMemory(
                f"`ulimit -{option}` leaves {limit / 1e6:,.0f} MB of memory to map, and a run takes {least / 1e6:,.0f} MB or more; "
                f"raise it (`ulimit -{option} unlimited`), or limit the memory that is used by a control group"
            )
    if any(limit < _SMALL for _, limit, _ in limits):
        with suppress(ImportError, OSError, AttributeError):  # other C libraries than glibc have no such function
            import ctypes

            ctypes.CDLL(None).mallopt(_M_ARENA_MAX, _HEAPS)


def threads() -> int | None:
    """For questions where a limit is near: one, so that no other one's stack can be what does not fit. None: no limit is."""
    return 1 if any(limit < _SMALL for _, limit, _ in _limits()) else None


def _limits() -> Iterator[tuple[str, int, int]]:
    """Of each limit that there is: its letter for `ulimit`, its bytes, and the bytes that a run takes."""
    with suppress(ImportError, OSError, AttributeError):
        import resource

        for letter, kind, least in (("v", resource.RLIMIT_AS, LEAST_MAPPED), ("d", resource.RLIMIT_DATA, LEAST_DATA)):
            limit, _ = resource.getrlimit(kind)
            if limit != resource.RLIM_INFINITY:
                yield letter, limit, least
