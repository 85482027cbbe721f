"""Matrices of int64, `matrix[column, row]`: what stages hand to each other, compiled and plain ones alike."""

from __future__ import annotations

import mmap

# Smaller ones are not worth a call of the kernel.
MAPPED_FROM_BYTES = 1 << 18


def new_matrix(columns: int, rows: int) -> memoryview:
    """A zeroed int64 matrix over one buffer. Raises MemoryError.

    Of a large one the pages that nobody writes to never exist: a small capture fills little of it.
    """
    return memoryview(_memory(8 * columns * rows)).cast("q", shape=[columns, rows])


def check_room(matrix: memoryview, columns: int, rows: int) -> None:
    """Raises ValueError unless the matrix has so many columns and rows at least. Who indexes it unchecked asks first."""
    has_columns, has_rows = matrix.shape or (0, 0)
    if has_columns < columns or has_rows < rows:
        raise ValueError(
            f"a matrix of {has_columns} columns and {has_rows} rows, where {columns} columns and {rows} rows are needed"
        )


def _memory(size: int) -> bytearray | mmap.mmap:
    """Zeroed bytes."""
    if size < MAPPED_FROM_BYTES:
        return bytearray(size)
    try:
        if not hasattr(mmap, "MAP_PRIVATE"):
            return mmap.mmap(-1, size)
        # A process that is forked off shall not write into the matrices of this one.
        return mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except OSError as error:
        raise MemoryError(f"no {size:,} bytes for a matrix") from error
