"""Pages that come from the source are those of this source; what the README shows exists."""

from __future__ import annotations

import re
import runpy

import pytest
from paths import ROOT

from analyzer.cli.main import verbs
from analyzer.query.metrics import data_rows
from dissectors.kafka.schema.error_codes import known_errors


@pytest.mark.slow
def test_written_pages_are_current() -> None:
    stale = runpy.run_path(str(ROOT / "docs" / "write.py"))["stale"]()
    assert stale == [], "run `make docs`"


# Words of our own, for which Kafka, TCP or plain English have better ones.
PRIVATE = re.compile(r"\b(?:told|obey\w*|came|anew|clothes|level of doubt)\b")


@pytest.mark.parametrize("page", ["README.md", "docs/cli.md", "docs/tables.md"])
def test_pages_are_in_words_that_others_use(page: str) -> None:
    assert PRIVATE.findall((ROOT / page).read_text(encoding="utf-8")) == []


def test_findings_are_in_words_that_others_use() -> None:
    for path in sorted((ROOT / "analyzer" / "query" / "findings").glob("*.sql")):
        for line in re.findall(r"^-- (?:says|do): (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE):
            names = re.sub(r"\{[^}]*\}", "", line)
            assert PRIVATE.findall(names) == [], f"{path.name}: {line}"


def test_advice_is_about_errors_of_kafka_in_words_that_others_use() -> None:
    known = {each.name for each in known_errors().values()}
    for error, advice in data_rows("error_advice"):
        assert error in known
        assert PRIVATE.findall(advice) == [], f"{error}: {advice}"


def test_the_readme_names_only_commands_that_exist() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"`make ([a-z]+)`", text)) | set(re.findall(r"^\$ make ([a-z]+)", text, re.M)) <= targets
    words = re.findall(r"^\s*(?:\$ )?kanalyze ([a-z]+)(?: |$)", text, re.MULTILINE)
    assert words and set(words) <= set(verbs())
