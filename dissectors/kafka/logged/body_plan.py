"""The steps that read a body, as numbers (`object_plan` makes them)."""

import cython

from dissectors.kafka.logged.json_places import Names
from dissectors.kafka.logged.object_steps import *


@cython.final
@cython.cclass
class Plan:
    """The steps of a message, or of a struct in it, what rows share first; they know `names` by number. `is_row`: an element
    becomes an entry, and with `forgotten` one that leaves its fetch session. `is_plain`: elements are values themselves.
    `has_records`: each has records, and brokers log their size for some APIs. `defaults`: values of the message that are not
    written where they have their default.

    A step is given as what it does, the numbers of its names (the first that is there counts), where its value goes (two
    numbers), the bits below which whole numbers are, the plan of what is inside, the value that counts elements, and those that
    count what is inside."""

    names: Names
    cells: cython.int[:, ::1]
    numbers: cython.int[::1]
    inner: list
    defaults: tuple
    count = cython.declare(cython.Py_ssize_t, visibility="readonly")
    is_row: cython.bint
    forgotten: cython.bint
    is_plain: cython.bint
    has_records: cython.bint

    def __init__(self, steps, names, is_row=False, forgotten=False, is_plain=False, has_records=False, defaults=()):
        self.names, self.defaults, self.count = names, defaults, len(steps)
        self.is_row, self.forgotten, self.is_plain, self.has_records = is_row, forgotten, is_plain, has_records
        numbers, cells, self.inner = [], [], []
        for kind, named, to, at, bits, inner, counted, touched in steps:
            first = len(numbers)
            numbers += [*named, *touched]
            cells.append((kind, to, at, bits, counted, first, first + len(named), len(numbers)))
            self.inner.append(inner)
        self.numbers = memoryview(bytearray(4 * (len(numbers) + 1))).cast("i")
        for at, number in enumerate(numbers):
            self.numbers[at] = number
        shape = (len(cells) + 1, STEP_CELLS)
        self.cells = memoryview(bytearray(4 * shape[0] * shape[1])).cast("i", shape)
        for at, row in enumerate(cells):
            for cell, value in enumerate(row):
                self.cells[at, cell] = value
