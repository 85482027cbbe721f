"""docs/protocol: written from the schemas of this source, and saying what the layouts say that Apache confirms."""

from __future__ import annotations

import re
import runpy

from kafka_reference import table
from paths import LAYOUTS, ROOT

from dissectors.kafka.schema import lookup
from dissectors.kafka.schema.fields import ROLES

SCRIPT = runpy.run_path(str(ROOT / "docs" / "write_protocol.py"))
FOLDER = ROOT / "docs" / "protocol"
LAYOUT = re.compile(r"(\w+)(?: (request|response))? (\d+)(?:-(\d+))?: ?(.*)")


def test_pages_are_current() -> None:
    assert SCRIPT["stale"]() == [], "run `make docs`"


def test_there_is_a_page_for_every_api_and_a_link_to_it() -> None:
    index = (FOLDER / "README.md").read_text()
    pages = {SCRIPT["page_name"](key) for key in lookup.readable_keys()}
    assert len(pages) == len({row["key"] for row in table("header_versions")})
    linked = set(re.findall(r"\]\((\w+\.md)\)", index))
    assert linked == pages | {"embedded.md", "error_codes.md"}
    assert all((FOLDER / name).is_file() for name in linked)
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 1_500_000


def test_every_role_has_a_meaning_or_is_a_matter_of_tables() -> None:
    assert not SCRIPT["MEANINGS"].keys() & SCRIPT["STRUCTURE"]
    assert SCRIPT["MEANINGS"].keys() | SCRIPT["STRUCTURE"] == ROLES


def test_tables_have_the_fields_of_every_version() -> None:
    """As many as the committed layouts, by name and whether they may be null; removed versions are struck out."""
    messages = 0
    for line in (LAYOUTS).read_text().splitlines():
        read = LAYOUT.fullmatch(line)
        assert read
        name, direction, first, last, text = read.groups()
        page, title = page_and_title(name, direction)
        section = page.split(f"## {title}\n")[1].split("\n## ")[0]
        for version in range(int(first), int(last or first) + 1):
            assert sorted(fields_of(section, version)) == sorted(fields_in(text)), f"{name} {direction} v{version}"
            messages += direction is not None
    assert messages == 2 * len(table("header_versions"))


def page_and_title(name: str, direction: str | None) -> tuple[str, str]:
    """Where a message is described, or (without direction) a struct inside bytes."""
    if direction is None:
        return (FOLDER / "embedded.md").read_text(), name
    key = next(key for key, known in lookup.known_keys().items() if known.name == name)
    return (FOLDER / SCRIPT["page_name"](key)).read_text(), direction.capitalize()


def fields_in(layout: str) -> list[str]:
    """`name` or `name?` of every field in a line of layouts.txt."""
    found: list[str] = []
    open_structs: list[int] = []
    for token in re.findall(
        r"\w+:(?=[\[(a-z])|\)\??|\(|[a-z0-9]+\?", re.sub(r"~\d+:", "", layout.removeprefix("flexible"))
    ):
        if token == "(":
            open_structs.append(len(found) - 1)
        elif token.startswith(")"):
            found[open_structs.pop()] += token[1:]
        elif token.endswith("?"):
            found[-1] += "?"
        else:
            found.append(token[:-1])
    return found


def fields_of(section: str, version: int) -> list[str]:
    """The same of one version in the table of a page."""
    table = [[cell.strip() for cell in row[1:-1].split(" |")] for row in section.splitlines() if row.startswith("|")]
    if not table:
        assert "No fields." in section
        return []
    (column,) = (number for number, head in enumerate(table[0]) if covers(head.strip("~"), version))
    cells = ((row[0].strip("`").split(".")[-1], row[column]) for row in table[2:])
    return [name + ("?" if cell == "?" else "") for name, cell in cells if cell]


def covers(head: str, version: int) -> bool:
    span = re.fullmatch(r"(\d+)(?:-(\d+))?", head)
    return span is not None and int(span[1]) <= version <= int(span[2] or span[1])
