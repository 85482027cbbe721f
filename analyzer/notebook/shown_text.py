"""Text that notebooks show as it is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from analyzer.base.text import printable


class Text(str):
    """Text that a notebook shows as it is, in a fixed width."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self)}</pre>"


def html_table(header: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> str:
    """Cells as an HTML table; captured text in them is made harmless, for browsers and for who copies it to a terminal."""
    below = f"<caption style='caption-side: bottom'>{escape(printable(caption))}</caption>" if caption else ""
    lines = "".join(_row(row, "td") for row in rows)
    return f"<table>{below}<thead>{_row(header, 'th')}</thead><tbody>{lines}</tbody></table>"


def _row(cells: Sequence[str], tag: str) -> str:
    return f"<tr>{''.join(f'<{tag}>{escape(printable(cell))}</{tag}>' for cell in cells)}</tr>"
