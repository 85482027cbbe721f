"""A definition and a field list go in, a definition comes out: where new fields stand, what stays, what is not touched."""

from __future__ import annotations

from typing import Any

from tools.release import words
from tools.release.api_file import Definition, brought_to

TEXT = """\
api Oven  key 200  versions 0-2  flexible 1+

request  # heat
  name      string        @topic
  level     int32                 # 0: off
  loaves    []            @topics
    kind    string?  1+   = null  # null: any
    weight  int16    0-1

response
  error_code  int16  @error(message)
"""


def field(name: str, kind: str, versions: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "type": kind, "versions": versions} | more


def lists(valid: str, *fields: dict[str, Any], flexible: str = "1+", **more: Any) -> dict[str, dict[str, Any]]:
    head = {"apiKey": 200, "validVersions": valid, "flexibleVersions": flexible} | more
    request = head | {"type": "request", "name": "OvenRequest", "fields": list(fields)}
    error = field("ErrorCode", "int16", "0+")
    return {"request": request, "response": head | {"type": "response", "name": "OvenResponse", "fields": [error]}}


NAME, LEVEL = field("Name", "string", "0+"), field("Level", "int32", "0+")
KIND = field("Kind", "string", "1+", nullableVersions="1+", default="null")
WEIGHT = field("Weight", "int16", "0-1")


def loaves(*fields: dict[str, Any]) -> dict[str, Any]:
    return field("Loaves", "[]Loaf", "0+", fields=list(fields))


def merged(sides: dict[str, dict[str, Any]], said: Any = None) -> Definition:
    return brought_to("9.1", TEXT, sides, words.Words(said or {}))


def request_of(found: Definition) -> list[str]:
    return found.text.split("\n\n")[1].splitlines()[1:]


def test_a_new_field_stands_where_it_is_on_the_wire() -> None:
    found = merged(
        lists("0-3", NAME, field("Door", "bool", "3+"), LEVEL, loaves(field("Id", "uuid", "3+"), KIND, WEIGHT))
    )
    assert found.text.startswith("api Oven  key 200  versions 0-3  flexible 1+\n")
    assert request_of(found) == [
        "  name      string        @topic",
        "  door      bool     3+",
        "  level     int32                 # 0: off",
        "  loaves    []            @topics",
        "    id      uuid     3+",
        "    kind    string?  1+   = null  # null: any",
        "    weight  int16    0-1",
    ]
    assert found.notes["request"].added == ["door", "loaves[].id"]
    assert found.text.endswith("\n\nresponse\n  error_code  int16  @error(message)\n")


def test_what_goes_in_a_new_version_gets_an_end() -> None:
    found = merged(lists("0-3", field("Name", "string", "0-2"), LEVEL, loaves(KIND, WEIGHT)))
    assert request_of(found)[0].split() == ["name", "string", "0-2", "@topic"]


def test_a_field_with_another_type_is_another_field() -> None:
    newer = field("Level", "int64", "3+", default="-1")
    found = merged(lists("0-3", NAME, field("LevelLegacy", "int32", "0-2"), newer, loaves(KIND, WEIGHT)))
    assert [line.split() for line in request_of(found)[1:3]] == [
        ["level_legacy", "int32", "0-2", "#", "0:", "off"],
        ["level", "int64", "3+", "=", "-1"],
    ]
    assert found.notes["request"].renamed == [("level_legacy", "level", 2)]


def test_a_known_version_with_other_bytes_is_left_alone() -> None:
    found = merged(lists("0-3", NAME, field("Level", "int64", "0+"), loaves(KIND, WEIGHT)))
    assert [line.split()[:2] for line in request_of(found)][1] == ["level", "int32"]
    assert found.notes["request"].unsure == [
        "level: is not as the definition has it in versions both know",
        "level: the release has nothing there in 0-2",
    ]


def test_versions_that_a_release_removes_are_gone_and_can_still_be_read() -> None:
    found = merged(lists("2-3", NAME, LEVEL, loaves(KIND)))
    assert found.text.startswith("api Oven  key 200  versions 0-3  flexible 1+  gone 0-1 in 9.1\n")
    assert request_of(found) == TEXT.split("\n\n")[1].splitlines()[1:]
    whole = merged({way: each | {"validVersions": "none"} for way, each in lists("0").items()})
    assert whole.text == TEXT.replace("flexible 1+", "flexible 1+  gone 0-2 in 9.1")


def test_null_and_tags_and_an_unstable_version() -> None:
    tagged = field("Steam", "int8", "3+", taggedVersions="3+", tag=0)
    name = field("Name", "string", "0+", nullableVersions="3+")
    found = merged(lists("0-3", name, LEVEL, loaves(KIND, WEIGHT), tagged, latestVersionUnstable=True))
    assert found.text.splitlines()[0].endswith("versions 0-3  flexible 1+  unstable 3")
    assert request_of(found)[0].split() == ["name", "string?3+", "@topic"]
    assert request_of(found)[-1].split() == ["steam", "int8", "3+", "tag", "0"]


def test_words_of_a_file_are_given_to_new_fields_only() -> None:
    said = {("Oven", "request", "door"): ("@echo", "who opened it"), ("Oven", "request", "level"): ("", "other words")}
    found = merged(lists("0-3", NAME, field("Door", "string", "3+"), LEVEL, loaves(KIND, WEIGHT)), said)
    assert request_of(found)[1].split() == ["door", "string", "3+", "@echo", "#", "who", "opened", "it"]
    assert request_of(found)[2].endswith("# 0: off")


def test_a_name_given_to_another_field_of_the_same_type_is_no_match() -> None:
    newer = field("Level", "int32", "3+")
    found = merged(lists("0-3", NAME, field("LevelLegacy", "int32", "0-2"), newer, loaves(KIND, WEIGHT)))
    assert [line.split()[:3] for line in request_of(found)[1:3]] == [
        ["level_legacy", "int32", "0-2"],
        ["level", "int32", "3+"],
    ]


def test_a_default_is_that_of_the_newest_release() -> None:
    found = merged(lists("0-3", NAME, field("Level", "int32", "0+", default="0x10"), loaves(KIND, WEIGHT)))
    assert request_of(found)[1].split() == ["level", "int32", "=", "16", "#", "0:", "off"]
