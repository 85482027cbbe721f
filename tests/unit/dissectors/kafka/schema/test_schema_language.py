"""The schema language: what it says, what it refuses; and rules that every schema file keeps."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from kafka_reference import table

from dissectors.kafka.schema import lookup, roles
from dissectors.kafka.schema.error_codes import error_code, known_errors
from dissectors.kafka.schema.lookup import OPEN, SchemaError, Span
from dissectors.kafka.schema.schema_files import parse, parse_embedded

if TYPE_CHECKING:
    pass

HEAD = "api Thing  key 7  versions 0-9  flexible 4+  gone 0-1 in 4.0  unstable 9\n"
TEXT = (
    HEAD
    + """
request                       # asks
  name        string?7+       # a comment, with # in it
  ids         []int32? 2-5  @forgotten = null
  parts       []    @row @partitions
    index     int32   @partition
    code      int16   3   @error
    inner     {}?2-7
      code    int16   @error(group)
  extra       uuid 4+ tag 0

response
  throttle_time_ms  int32  1+  @throttle  = -5
"""
)


def test_a_file_becomes_a_tree() -> None:
    api = parse(TEXT, "file")
    assert (api.key, api.name, api.versions, api.flexible) == (7, "Thing", Span(0, 9), Span(4, OPEN))
    assert (api.gone, api.gone_in, api.unstable) == (Span(0, 1), "4.0", Span(9, 9))
    assert api.request.comment == "asks"
    name, ids, parts, extra = api.request.fields
    assert (name.type, name.nullable, name.versions, name.comment) == (
        "string",
        Span(7, OPEN),
        Span(0, 9),
        "a comment, with # in it",
    )
    assert (ids.type, ids.is_array, ids.nullable) == ("int32", True, Span(0, 9))
    assert (ids.versions, ids.roles, ids.default) == (Span(2, 5), ("forgotten",), "null")
    assert (parts.type, parts.is_array, parts.roles) == ("struct", True, ("row", "partitions"))
    assert [field.name for field in parts.fields] == ["index", "code", "inner"]
    assert (parts.fields[1].versions, parts.fields[2].nullable) == (Span(3, 3), Span(2, 7))
    assert not parts.fields[2].is_array
    assert (extra.tag, extra.versions) == (0, Span(4, OPEN))
    assert api.response.fields[0].default == "-5"
    assert not api.is_flexible(3)
    assert api.is_flexible(4)


def test_numbers_paths_and_levels() -> None:
    message = parse(TEXT, "file").request
    assert [field.number for _, field, _ in roles.walk(message)] == list(range(8))
    assert roles.paths(message)[4:7] == ["parts[].code", "parts[].inner", "parts[].inner.code"]
    assert roles.error_levels(message) == {4: "partition", 6: "group"}


BAD = [
    ("  x int24\n", 3, "int24"),
    ("  x\n", 3, "wanted `name type`"),
    ("  x int32?\n", 3, "null"),
    ("   x int32\n", 3, "indent"),
    ("\tx int32\n", 3, "tab"),
    ("  x int32\n    y int32\n", 4, "nested"),
    ("  x []\n  y int32\n", 3, "without fields"),
    ("  x int32\n  x int8\n", 4, "second"),
    ("  x int32 5-3\n", 3, "5-3"),
    ("  x int32 10+\n", 3, "beyond"),
    ("  x int32 5-10\n", 3, "beyond"),
    ("  x int32 3+ tag 0\n", 3, "tagged"),
    ("  x int32 4+ tag zero\n", 3, "tag"),
    ("  x int32 @nonsense\n", 3, "nonsense"),
    ("  x int32 =\n", 3, "nothing after"),
    ("  x int32 = 1 2\n", 3, "not understood"),
    ("  x int32 @count 4+\n", 3, "not understood"),
    ("  x bytes @embedded\n", 3, "what they hold"),
    ("  x string @embedded(request)\n", 3, "what they hold"),
    ("  x bytes @embedded()\n", 3, "no role"),
    ("request\n", 3, "request"),
    ("answer\n", 3, "answer"),
]


@pytest.mark.parametrize(("text", "line", "what"), BAD)
def test_what_is_wrong_is_named_with_its_line(text: str, line: int, what: str) -> None:
    with pytest.raises(SchemaError, match=rf"^bad\.kafka:{line}: .*{what}"):
        parse(HEAD + "request\n" + text + "response\n", "bad.kafka")


@pytest.mark.parametrize(
    "head",
    [
        "",
        "api X key 1\n",
        "api X key one versions 0\n",
        "api X key 1 versions 0+\n",
        "api X key 1 versions 0-1 goner 3\n",
        "api X key 1 versions 0-1 gone 0\n",
        "api X key 1 versions 0-1 gone 0 in four\n",
        "api X key 1 versions 0-1 in 4.0\n",
        "api X key 1 versions 0-1 versions 2\n",
        "api X key 1 versions 0-1 prefix int16\n",
    ],
)
def test_the_first_line_is_checked(head: str) -> None:
    with pytest.raises(SchemaError, match=r"^bad\.kafka:1: "):
        parse(head, "bad.kafka")


def test_releases_other_than_4_0_may_be_told() -> None:
    api = parse("api X  key 1  versions 0-1  gone 0 in 4.1\nrequest\nresponse\n", "file")
    assert (api.gone, api.gone_in) == (Span(0, 0), "4.1")
    kept = parse("api X  key 1  versions 0-1\nrequest\nresponse\n", "file")
    assert (kept.gone, kept.gone_in) == (None, None)


STRUCT = """struct Thing  versions 0-2  flexible 2+  newer 2  prefix int16  protocol consumer  # about it

  name  string
  ids   []int32  1+
"""


def test_a_struct_inside_bytes() -> None:
    known = parse_embedded(STRUCT, "file")
    assert (known.name, known.versions, known.flexible, known.comment) == (
        "Thing",
        Span(0, 2),
        Span(2, OPEN),
        "about it",
    )
    assert (known.reads_newer, known.has_prefix, known.protocol) == (True, True, "consumer")
    assert [(field.name, field.versions) for field in known.fields] == [("name", Span(0, 2)), ("ids", Span(1, OPEN))]
    plain = parse_embedded("struct Thing versions 0\n  version int16\n", "file")
    assert (plain.reads_newer, plain.has_prefix, plain.protocol, plain.flexible) == (False, False, None, None)


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("", 1, "empty"),
        ("api Thing key 1 versions 0\n", 1, "struct NAME"),
        ("struct Thing prefix int16\n  x int32\n", 1, "struct NAME"),
        ("struct Thing versions 0+ prefix int16\n  x int32\n", 1, "have an end"),
        ("struct Thing versions 0-2 newer 1 prefix int16\n  x int32\n", 1, "last one, 2"),
        ("struct Thing versions 0-2 prefix int32\n  x int32\n", 1, "prefix"),
        ("struct Thing versions 0-2 key 1\n  x int32\n", 1, "key"),
        ("struct Thing versions 0\n  x int32\n", 1, "version"),
        ("struct Thing versions 0 prefix int16\n  x int32\ny int32\n", 3, "one struct"),
    ],
)
def test_what_is_wrong_with_a_struct_is_named_with_its_line(text: str, line: int, what: str) -> None:
    with pytest.raises(SchemaError, match=rf"^bad\.kafka:{line}: .*{what}"):
        parse_embedded(text, "bad.kafka")


def test_both_directions_are_wanted() -> None:
    with pytest.raises(SchemaError, match="no section `response`"):
        parse(HEAD + "request\n", "bad.kafka")


def test_names_of_all_keys() -> None:
    names = dict(lookup.api_names())
    assert names == {int(row["key"]): row["name"] for row in table("header_versions")}
    assert (names[0], names[18], names[94]) == ("Produce", "ApiVersions", "UnregisterController")
    assert lookup.known_keys()[1].versions == Span(0, 18)
    assert lookup.api(max(names) + 1) is None


def test_keys_and_error_codes_are_those_of_the_reference() -> None:
    rows = [(int(row["code"]), row["name"], row["retriable"] == "true") for row in table("error_codes")]
    assert known_errors() == {row[0]: row for row in rows}
    assert error_code(20000) == (20000, "UNKNOWN_20000", None)
    versions: dict[int, set[int]] = {}
    for row in table("header_versions"):
        versions.setdefault(int(row["key"]), set()).add(int(row["version"]))
    spans = {key: Span(min(found), max(found)) for key, found in versions.items()}
    assert {key: known.versions for key, known in lookup.known_keys().items()} == spans


def test_reading_a_schema_loads_nothing_heavy() -> None:
    heavy = ("pyarrow", "duckdb", "cramjam", "numpy")
    code = f"""
import sys
import dissectors.kafka.messages.explain
from dissectors.kafka.schema import lookup
lookup.api(1)
print([name for name in {heavy} if name in sys.modules], lookup.api.cache_info().misses)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["[]", "1"]


# Rules of the files themselves.

KEYS = lookup.readable_keys()
MESSAGES = [
    pytest.param(lookup.api(key), direction, id=f"{lookup.api(key).name}-{direction}")
    for key in KEYS
    for direction in ("request", "response")
]


@pytest.mark.parametrize("key", KEYS)
def test_files_agree_with_the_list_of_keys(key: int) -> None:
    api, known = lookup.api(key), lookup.known_keys()[key]
    assert (api.name, api.key, api.versions) == (known.name, key, known.versions)
    assert (api.flexible.first if api.flexible else OPEN + 1) == known.flexible_from


@pytest.mark.parametrize(("api", "direction"), MESSAGES)
def test_what_must_have_a_role_has_it(api: lookup.Api, direction: str) -> None:
    for path, field, _ in roles.walk(api.message(direction)):
        if field.type == "int16" and field.name.endswith("error_code"):
            assert "error" in field.roles, path
        if field.name == "throttle_time_ms":
            assert field.roles == ("throttle",), path
        if field.type == "records":
            assert "records" in field.roles, path
        if field.name in ("auth_bytes", "hmac", "salt", "salted_password") and field.type == "bytes":
            assert "secret" in field.roles, path
        if set(field.roles) & {"row", "topics", "partitions"}:
            assert field.is_array, path


@pytest.mark.parametrize(("api", "direction"), MESSAGES)
def test_settings_and_what_repeats_them_may_be_secrets(api: lookup.Api, direction: str) -> None:
    """A value with a name beside it; error texts of all APIs that carry such values."""
    fields = [(field, around) for _, field, around in roles.walk(api.message(direction))]
    for field, around in fields:
        beside = {each.name for each in (around[-1].fields if around else api.message(direction).fields)}
        if field.name == "value" and field.type == "string" and beside & {"name", "key"}:
            assert set(field.roles) & {"secret_by_name", "secret_if_marked"}, field
            assert ("is_sensitive" in beside) == ("secret_if_marked" in field.roles)
    if any(field.name == "value" and field.type == "string" for _, field, _ in _both(api)):
        for field, _ in fields:
            if field.name in ("error_message", "status_detail"):
                assert "echo" in field.roles, field


def _both(api: lookup.Api) -> list[tuple[str, lookup.Field, tuple[lookup.Field, ...]]]:
    return [*roles.walk(api.request), *roles.walk(api.response)]


@pytest.mark.parametrize(("api", "direction"), MESSAGES)
def test_at_most_one_array_makes_rows(api: lookup.Api, direction: str) -> None:
    """In one version: rows of an older and a newer form of the same array may both be marked."""
    rows = [field for _, field, _ in roles.walk(api.message(direction)) if "row" in field.roles]
    for version in range(api.versions.first, api.versions.last + 1):
        assert sum(version in field.versions for field in rows) <= 1


@pytest.mark.parametrize(("api", "direction"), MESSAGES)
def test_tags_are_dense(api: lookup.Api, direction: str) -> None:
    message = api.message(direction)
    for fields in [message.fields, *(field.fields for _, field, _ in roles.walk(message))]:
        tags = sorted(field.tag for field in fields if field.tag is not None)
        assert tags == list(range(len(tags)))


@pytest.mark.parametrize(("api", "direction"), MESSAGES)
def test_every_array_element_takes_bytes(api: lookup.Api, direction: str) -> None:
    """`wire` refuses a count above the bytes that are left, so no element may be empty."""
    for path, field, _ in roles.walk(api.message(direction)):
        if field.type != "struct" or not field.is_array:
            continue
        for version in range(api.versions.first, api.versions.last + 1):
            if version in field.versions and not api.is_flexible(version):
                assert any(version in inner.versions and inner.tag is None for inner in field.fields), (path, version)
