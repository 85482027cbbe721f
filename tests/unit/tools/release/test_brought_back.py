"""Releases taken away from the definitions, and brought back from Apache's field lists and a file of words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from earlier import earlier
from kafka_reference import RELEASES, messages, renames

from dissectors.kafka.schema import lookup
from tools.release import words
from tools.release.apache import valid_versions
from tools.release.api_file import Definition, brought_to
from tools.release.definition import blocks, nodes, paths
from tools.release.vectors import by_key, changed

FOLDER = Path(lookup.__file__).parent / "definitions"
TODAY = {int(path.name[:3]): path.read_text() for path in sorted(FOLDER.glob("*.kafka"))}
LISTS = {release: by_key(messages(release)) for release in RELEASES}
# 4.4.0 gave the name of an older field to a newer one: words of today say of the older what the newer means.
NAME_GIVEN_AGAIN = 88


def known(release: str, key: int) -> frozenset[int]:
    """The versions that a release or an earlier one has."""
    found: frozenset[int] = frozenset()
    for each in RELEASES[: RELEASES.index(release) + 1]:
        message = LISTS[each].get((key, "request"))
        found |= valid_versions(message) if message else frozenset()
    return found


def without(release: str, key: int) -> str | None:
    """A definition of today as it would be if that release were the newest."""
    names: dict[str, dict[str, str]] = {}
    for row in renames():
        if int(row["key"]) == key and RELEASES.index(row["since"]) > RELEASES.index(release):
            names.setdefault(row["direction"], {})[row["newer"]] = row["older"]
    return earlier(TODAY[key], known(release, key), names)


def come_back(release: str, key: int, said: dict[Any, Any]) -> tuple[str | None, list[Definition]]:
    """The definition without the releases after this one, and with them again, one after the other."""
    text, steps = without(release, key), []
    for newer in RELEASES[RELEASES.index(release) + 1 :]:
        sides = {way: LISTS[newer][key, way] for way in ("request", "response") if (key, way) in LISTS[newer]}
        if sides:
            steps.append(brought_to(newer.rpartition(".")[0], text, sides, words.Words(said)))
            text = steps[-1].text
    return text, steps


def shown(text: str, with_comments: bool) -> dict[str, list[tuple[Any, ...]]]:
    """Of each direction all that the lines of its fields say, in order."""
    return {
        way: [
            (path, each.type, each.versions, each.tag, each.roles, each.default, each.comment * with_comments)
            for path, each in paths(nodes(lines[1:]))
        ]
        for way, lines in blocks(text)[1].items()
    }


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[Any, Any]:
    file = tmp_path_factory.mktemp("words") / "words.tsv"
    file.write_text("\n".join(words.lines_of(TODAY.values())) + "\n")
    return words.read(file)


@pytest.mark.parametrize("release", RELEASES[:-1])
@pytest.mark.parametrize("key", TODAY)
def test_every_field_comes_back(key: int, release: str, said: dict[Any, Any]) -> None:
    """Names, types, versions, tags and defaults by Apache's lists; roles and comments by the file."""
    text, steps = come_back(release, key, said)
    assert text is not None
    with_comments = (key, release) != (NAME_GIVEN_AGAIN, "3.9.1")
    assert shown(text, with_comments) == shown(TODAY[key], with_comments)
    assert [each for step in steps for notes in step.notes.values() for each in notes.unsure] == []
    facts, wanted = (blocks(each)[0][0].split("  gone")[0].split("  unstable")[0] for each in (text, TODAY[key]))
    assert facts == wanted


def test_what_another_wire_has_is_left_to_a_person() -> None:
    """In 3.9.1, where it was unstable, version 0 of this key had other bytes than later."""
    sides = {way: LISTS["3.9.1"][87, way] for way in ("request", "response")}
    found = brought_to("3.9", TODAY[87], sides, words.Words())
    unsure = [each for notes in found.notes.values() for each in notes.unsure]
    assert unsure
    assert shown(found.text, True) == shown(TODAY[87], True)


def test_nothing_changes_where_nothing_is_new() -> None:
    for key, text in TODAY.items():
        sides = {way: LISTS[RELEASES[-1]].get((key, way)) for way in ("request", "response")}
        if all(sides.values()):
            found = brought_to("4.4", text, sides, words.Words())  # type: ignore[arg-type]
            assert found.text == text, found.file


def test_without_words_the_usual_roles_are_given_and_the_rest_is_listed() -> None:
    before = [text for key in TODAY if (text := without("4.3.1", key)) is not None]
    given = words.Words({}, words.usual(before))
    sides = {way: LISTS["4.4.0"][93, way] for way in ("request", "response")}
    text = brought_to("4.4", None, sides, given).text
    assert "  throttle_time_ms  int32    @throttle\n" in text
    assert ("throttle_time_ms int32 @throttle", "StreamsGroupTopologyDescriptionUpdate response") in given.guessed
    assert ("topology_epoch int32", "StreamsGroupTopologyDescriptionUpdate request") in given.without


def test_what_a_release_changes_is_what_its_lists_say() -> None:
    """As its reference told: 18 of 618, of which 14 cannot be read before and 4 have a field with another name."""
    found = changed(LISTS["4.4.0"], LISTS["4.3.1"])
    assert {(kind.key, kind.version) for kind in found} == {
        (18, 5), (28, 3), (28, 4), (28, 5), (28, 6), (42, 3), (88, 0), (88, 1), (89, 1), (93, 0), (94, 0)
    }  # fmt: skip
    assert len(found) == 18
