"""Finds places where one of very many byte strings may begin: at every byte, by a hash of the eight bytes there."""

import cython

i64 = cython.typedef(cython.longlong)


@cython.cclass
class ByteSearch:
    """What is looked for: `add` the first eight bytes of each string, then `find`."""

    table: cython.uchar[::1]

    def __init__(self):
        self.table = bytearray(1 << 24)

    def add(self, head: cython.const[cython.uchar][::1]):
        """Raises IndexError for fewer than eight bytes."""
        if len(head) < 8:
            raise IndexError("fewer than eight bytes")
        self.table[place_of(head, 0)] = 1

    def find(self, data: cython.const[cython.uchar][::1]):
        """Offsets in `data` where a string may begin, ascending: all that do, and a few where none does."""
        found: list = []
        at: i64
        place: i64
        for at in range(len(data) - 7):
            place = place_of(data, at)
            if self.table[place]:
                found.append(at)
        return found


@cython.cfunc
@cython.exceptval(-1, check=False)
@cython.boundscheck(False)
def place_of(data: cython.const[cython.uchar][::1], at: i64) -> i64:
    """A hash of 24 bits. Numbers are so small that products fit 63 bits."""
    if at < 0 or at + 8 > len(data):
        raise IndexError("a window reaches beyond the bytes")
    high: i64 = data[at]
    low: i64 = data[at + 4]
    high = (((high << 8) | data[at + 1]) << 16) | (cython.cast(i64, data[at + 2]) << 8) | data[at + 3]
    low = (((low << 8) | data[at + 5]) << 16) | (cython.cast(i64, data[at + 6]) << 8) | data[at + 7]
    high = high * 0x1E3779B1 + low * 0x05EBCA6B
    return (high ^ (high >> 29)) & 0xFFFFFF
