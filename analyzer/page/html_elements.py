"""Elements of HTML as text. What is no HTML yet is escaped, so a captured string never becomes a tag."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Self


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()

    @classmethod
    def of(cls, *parts: str) -> Self:
        """The parts one after the other, those that are no HTML escaped."""
        return cls("".join(part if isinstance(part, Html) else escape(part) for part in parts))


def element(tag: str, *children: str, **attributes: str | int | float) -> Html:
    """An element. An attribute whose name Python reserves has a `_` behind it; another `_` becomes a hyphen."""
    names = (name.removesuffix("_").replace("_", "-") for name in attributes)
    written = "".join(f' {name}="{escape(str(each))}"' for name, each in zip(names, attributes.values(), strict=True))
    return Html(f"<{tag}{written}>{Html.of(*children)}</{tag}>")


def section(name: str, title: str, *children: str) -> Html:
    """A section of the page, with a heading that names it."""
    head = element("h2", title, id=f"{name}-title")
    return element("section", head, *children, id=name, aria_labelledby=f"{name}-title")


def table(label: str, titles: Iterable[str], rows: Iterable[Iterable[str]], numbers: Iterable[int] = ()) -> Html:
    """A table that scrolls sideways where it must. The first cell of a row names it; columns of `numbers` are set to the right."""
    right = set(numbers)

    def kind(at: int) -> dict[str, str]:
        return {"class_": "number"} if at in right else {}

    heads = (element("th", title, scope="col", **kind(at)) for at, title in enumerate(titles))
    lines = (
        element(
            "tr",
            *(
                element("td", cell, **kind(at)) if at else element("th", element("bdi", cell), scope="row")
                for at, cell in enumerate(row)
            ),
        )
        for row in rows
    )
    caption = element("caption", label, class_="out-of-sight")
    made = element("table", caption, element("thead", element("tr", *heads)), element("tbody", *lines))
    # The section around it has a name of its own, and two regions of one name cannot be told apart.
    return element("div", made, class_="table", tabindex=0, role="region", aria_label=f"Table: {label}")
