"""Rows of tables: those that stand there stay, those of the release are added."""

from __future__ import annotations

from tools.release import tables
from tools.release.jar import parsed

KEYS = [
    {"key": 0, "name": "Bake", "first": 1, "last": 3, "unstable": True, "headers": [[1, 0], [2, 1], [2, 1]]},
    {"key": 2, "name": "Cool", "first": 0, "last": 0, "unstable": False, "headers": [[2, 1]]},
]


def text(*rows: str) -> str:
    return "".join("\t".join(row.split(" ")) + "\n" for row in rows)


def test_a_schema_loses_its_comments_and_prose() -> None:
    found = parsed('// a licence\n{ "name": "a//b", // why\n  "about": "see http://x", "fields": [{"about": "y"}] }')
    assert found == {"name": "a//b", "fields": [{}]}


def test_keys_are_those_of_all_releases() -> None:
    found = tables.known_keys(text("key name first last flexible_from", "0 Bake 0 2 2"), KEYS, {0: "2", 2: "0"})
    assert found == text("key name first last flexible_from", "0 Bake 0 3 2", "2 Cool 0 0 0")


def test_error_codes_are_added_in_order() -> None:
    errors = [{"code": 7, "name": "COLD", "retriable": True, "exception": "ColdException"}]
    assert tables.known_errors(text("code name retriable", "0 NONE false"), errors).splitlines()[-1] == "7\tCOLD\ttrue"
    listed = tables.listed_errors(
        text("code name retriable exception since", "7 COLD true ColdException 1.0.0"), "9.1.0", errors
    )
    assert listed.splitlines()[-1].endswith("\t1.0.0")


def test_headers_of_each_version() -> None:
    found = tables.listed_headers(text("key name version request_header response_header"), KEYS)
    assert found.splitlines()[1:] == text("0 Bake 1 1 0", "0 Bake 2 2 1", "0 Bake 3 2 1", "2 Cool 0 2 1").splitlines()


def test_readiness_of_a_release() -> None:
    """What did not change is valid for longer; what did has another row, and so has what is gone or new."""
    head = "api_key api_name from_release to_release oldest accepted_to refused_from source"
    before = text(head, "0 Bake 8.0 9.0 1 2 4 x", "1 Fry 9.0 9.0 0 0 1 x")
    found = tables.release_versions(before, "9.0", "9.1", "9.1.0", KEYS).splitlines()[1:]
    source = "message definitions of Apache Kafka 9.1.0"
    assert [row.split("\t") for row in found] == [
        ["0", "Bake", "8.0", "9.1", "1", "2", "4", "x"],
        ["1", "Fry", "9.0", "9.0", "0", "0", "1", "x"],
        ["1", "Fry", "9.1", "9.1", "32767", "", "", source],
        ["2", "Cool", "9.1", "9.1", "0", "0", "1", source],
    ]
    assert tables.releases(text("release place", "9.0 4"), "9.1") == text("release place", "9.0 4", "9.1 5")
