"""Pages of the arena that are given back."""

import cython

from dissectors.kafka.framing.state import FramingState, i64
from dissectors.kafka.framing.state_columns import *


@cython.cfunc
@cython.exceptval(-1)
def free_chain(f: FramingState, page: i64) -> cython.int:
    following: i64
    while page >= 0:
        following = f.next_page[page]
        f.next_page[page] = f.free_page
        f.free_page = page
        f.free_pages += 1
        page = following
    return 0


@cython.cfunc
@cython.exceptval(-1)
def drop_tail(f: FramingState, s: i64) -> cython.int:
    """Forgets the tail of a side (`tails`), and gives its page back."""
    f.side[s, SIDE_TAIL] = 0
    if f.side[s, SIDE_TAIL_PAGE]:
        free_chain(f, f.side[s, SIDE_TAIL_PAGE] - 1)
        f.side[s, SIDE_TAIL_PAGE] = 0
        f.tail_pages -= 1
    return 0
