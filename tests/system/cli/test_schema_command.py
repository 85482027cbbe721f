"""`kanalyze schema`: the BNF-like layouts, read back, are those of layouts.txt (test_definitions.py)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from click.testing import CliRunner
from kafka_reference import RELEASES, api_keys
from paths import LAYOUTS

from analyzer.cli import schemas
from analyzer.cli.main import cli
from dissectors.kafka.schema import lookup

Run = Callable[..., Any]

HEADING = re.compile(r"(\w+)(?: (Request|Response))? \(Version: (\d+)(, [^)]+)?\) => ?(.*)")
LINE = re.compile(r"( +)(\w+)(?:<tag:(\d+)>)? => (.*)")
LAYOUT = re.compile(r"(\w+)(?: (request|response))? (\d+)(?:-(\d+))?: ?(.*)")


@dataclass
class Rule:
    """A line read back: its name, tag, what is right of the arrow, what follows that, and the lines below."""

    name: str
    tag: str | None
    right: str
    details: list[str]
    below: list[Rule] = field(default_factory=list)


def committed() -> dict[tuple[str, str, int], str]:
    """(API, direction, version) -> its layout, of all that there are; the direction of a struct inside bytes is ""."""
    found = {}
    for line in (LAYOUTS).read_text().splitlines():
        read = LAYOUT.fullmatch(line)
        assert read, line
        name, direction, first, last, text = read.groups()
        for version in range(int(first), int(last or first) + 1):
            found[name, direction or "", version] = text
    return found


def unwrapped(lines: list[str]) -> list[str]:
    """Lines without comments; those that go on in the next one put together."""
    found: list[str] = []
    for line in (text.partition("# ")[0].rstrip() for text in lines):
        if line.startswith(" ") and " => " not in line:
            found[-1] += " " + line.strip()
        elif line:
            found.append(line)
    return found


def rule(name: str, tag: str | None, rest: str) -> Rule:
    right, *details = re.split(" {2,}", rest)
    return Rule(name, tag, right, details)


def read_back(lines: list[str]) -> Iterator[tuple[str, Rule]]:
    """("request", "response" or "", what its lines say)."""
    stack: list[Rule] = []
    message, direction = None, ""
    for line in unwrapped(lines)[1:]:
        heading = HEADING.fullmatch(line)
        if heading:
            if message:
                yield direction, message
            direction, message = (heading[2] or "").lower(), rule(heading[1], None, heading[5])
            stack = [message]
            continue
        found = LINE.fullmatch(line)
        assert found, line
        child = rule(found[2], found[3], found[4])
        del stack[len(found[1]) // 2 :]
        stack[-1].below.append(child)
        stack.append(child)
    assert message
    yield direction, message


def layout(message: Rule, flexible: bool) -> str:
    """What was read back, as layouts.txt writes it."""
    text = members(message, flexible)
    return f"flexible {text}".rstrip() if flexible else text


def members(around: Rule, flexible: bool) -> str:
    words = around.right.split()
    if flexible:
        assert words.pop() == "_tagged_fields"
    assert len(words) == len(around.below)
    return " ".join(written(word, child, flexible) for word, child in zip(words, around.below, strict=True))


def written(word: str, child: Rule, flexible: bool) -> str:
    tag = "" if child.tag is None else f"<tag:{child.tag}>"
    is_array = word == f"[{child.name}]{tag}"
    assert is_array or word == child.name + tag
    kind = f"({members(child, flexible)})" if child.below else primitive(child.right, flexible)
    nullable = "?" if "nullable" in child.details or "NULLABLE_" in child.right else ""
    front = "" if child.tag is None else f"~{child.tag}:"
    return f"{front}{child.name}:{'[]' if is_array else ''}{kind}{nullable}"


def primitive(text: str, flexible: bool) -> str:
    name = text.removeprefix("COMPACT_").removeprefix("NULLABLE_").lower()
    assert text.startswith("COMPACT_") == (flexible and name in ("string", "bytes", "records")), text
    return "bool" if name == "boolean" else name


@pytest.mark.parametrize("key", lookup.readable_keys())
def test_every_version_has_the_layout_that_is_compared_with_apache(key: int) -> None:
    layouts, name = committed(), lookup.known_keys()[key].name
    versions = lookup.known_keys()[key].versions
    for version in range(versions.first, versions.last + 1):
        for direction, message in read_back(list(schemas.layout(key, version))):
            wanted = layouts[name, direction, version].replace("records?", "records").rstrip()
            assert layout(message, wanted.startswith("flexible")) == wanted, f"{name} {direction} v{version}"


@pytest.mark.parametrize("name", lookup.embedded_names())
def test_every_version_of_a_struct_inside_bytes_has_its_layout(name: str) -> None:
    layouts, found = committed(), lookup.embedded(name)
    for version in range(found.versions.first, found.versions.last + 1):
        lines = list(schemas.layout(name, version))
        ((_, struct),) = read_back(lines)
        wanted = layouts[found.name, "", version]
        assert ("version | " in wanted) == any("after the version as INT16" in line for line in lines)
        assert layout(struct, wanted.startswith("flexible")) == wanted.replace("version | ", "")


@pytest.mark.parametrize("key", lookup.readable_keys())
def test_all_versions_together_have_every_field_of_each(key: int) -> None:
    together = names_and_depths(list(schemas.layout(key, None)))
    versions = lookup.known_keys()[key].versions
    for version in range(versions.first, versions.last + 1):
        assert names_and_depths(list(schemas.layout(key, version))) <= together


def names_and_depths(lines: list[str]) -> set[tuple[int, str]]:
    found = (LINE.fullmatch(line) for line in unwrapped(lines))
    return {(len(line[1]) // 2, line[2]) for line in found if line}


def printed(*arguments: str) -> str:
    done = CliRunner().invoke(cli, ["schema", *arguments])
    assert done.exit_code == 0, done.output
    return done.output


def versions_of(release: str, key: int) -> range:
    row = api_keys(release).get(key)
    return range(int(row["first"]), int(row["last"]) + 1) if row else range(0)


def test_what_is_gone_is_marked() -> None:
    """By Apache's own list of versions: gone is what the oldest release has and the newest has not."""
    listed = printed()
    marked = 0
    for key, name in lookup.api_names():
        older, newer = (set(versions_of(release, key)) for release in (RELEASES[0], RELEASES[-1]))
        line = next(line for line in listed.splitlines() if line.split()[:2] == [str(key), name])
        assert (" removed in 4." in line) == bool(older - newer), line
        for version in older | newer:
            text = "\n".join(schemas.layout(key, version))
            headings = re.findall(rf"\(Version: {version}, header v\d(, removed in 4\.\d)?\)", text)
            assert len(headings) == 2
            assert all(bool(mark) == (version not in newer) for mark in headings), f"{name} v{version}"
            marked += version not in newer
    assert marked > 50


def test_a_field_of_removed_versions_alone_is_marked() -> None:
    lines = printed("OffsetCommit").splitlines()
    (line,) = (line for line in lines if "commit_timestamp =>" in line)
    assert re.split(" {2,}", line.strip()) == [
        "commit_timestamp => INT64",
        "1",
        "= -1",
        "removed in 4.0",
        "# -1: time of the broker",
    ]
    assert sum("removed in" in line for line in lines) == 2  # this one, and the first line


def test_api_by_name_in_any_case_or_by_key() -> None:
    found = printed("heartbeat", "4")
    assert found == printed("12", "4")
    assert re.sub("# .*", "#", found) == HEARTBEAT


HEARTBEAT = """\
Heartbeat, key 12, versions 0-4, flexible 4+

#
Heartbeat Request (Version: 4, header v2) => group_id generation_id member_id group_instance_id _tagged_fields
  group_id => COMPACT_STRING
  generation_id => INT32
  member_id => COMPACT_STRING
  group_instance_id => COMPACT_NULLABLE_STRING  = null  #

Heartbeat Response (Version: 4, header v1) => throttle_time_ms error_code _tagged_fields
  throttle_time_ms => INT32
  error_code => INT16                           #
"""


def test_bytes_that_hold_a_struct_name_it_and_it_can_be_asked_for() -> None:
    assert "holds ConsumerProtocolSubscription" in printed("JoinGroup", "0")
    found = printed("ConsumerProtocolSubscription", "1")
    assert "(Version: 1, after the version as INT16) => [topics] user_data [owned_partitions]\n" in found
    assert "rack_id" not in found
    for name in lookup.embedded_names():
        assert lookup.embedded(name).name in printed()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("Fetsh",), "no API 'Fetsh'; did you mean Fetch?"),
        (("999",), "no API '999'"),
        (("Fetch", "99"), "Fetch has no version 99"),
    ],
)
def test_what_is_not_there_is_said(kanalyze: Run, arguments: tuple[str, ...], message: str) -> None:
    done = kanalyze("schema", *arguments)
    assert done.returncode == 2
    assert message in done.stderr.decode() and done.stdout == b""
