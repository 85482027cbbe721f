"""`make release JAR=kafka-clients-4.5.0.jar`: kanalyze learns a release of Kafka from the release's own jar.

It writes definitions, tables, readiness, reference and vectors (`tests/data/kafka`), layouts, documentation and a line of the
change log, runs the tests of all of it over messages of every API, version and direction, and prints what is left to a person; the
same page is `build/release/REPORT.md`. `--words FILE`: roles and comments of new fields (`words.py`). Where no file of the name is
there, the jar is taken from Maven Central; `newest` is the newest one there, unless kanalyze knows it. Needs Java and Maven.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from tools.release import api_file, reference, tables, vectors, words
from tools.release.apache import valid_versions, wire
from tools.release.jar import BUILD, ROOT, Jar, newest
from tools.release.left import Left, unlisted

SCHEMA = ROOT / "dissectors" / "kafka" / "schema"
VIEWS = ROOT / "analyzer" / "query" / "metrics" / "views" / "materialized"
SCHEMA_TESTS = ROOT / "tests" / "unit" / "dissectors" / "kafka"
TESTS = ("schema", "messages/test_vectors.py", "columns/test_walk.py")


class Release:
    """One run. `before`: the newest release so far, by its field lists."""

    def __init__(self, jar: Jar, said: dict[tuple[str, str, str], tuple[str, str]]) -> None:
        self.jar = jar
        self.label = jar.release.rpartition(".")[0]
        before = [each for each in reference.releases() if each != jar.release]
        if reference.in_order(jar.release) < reference.in_order(before[-1]):
            raise SystemExit(f"{jar.release} is older than {before[-1]}, which kanalyze knows")
        self.before = before[-1]
        self.all = jar.messages()
        self.messages = vectors.by_key(self.all)
        self.all_before = reference.unpacked(reference.FOLDER / f"fields-{self.before}.jsonl.zst")
        self.messages_before = vectors.by_key(self.all_before)
        self.facts = jar.facts()
        self.left = Left(jar.release, words=words.Words(said))

    def definitions(self) -> None:
        files = {int(path.name[:3]): path for path in sorted((SCHEMA / "definitions").glob("*.kafka"))}
        texts = {key: path.read_text(encoding="utf-8") for key, path in files.items()}
        self.left.words.usual = words.usual(texts.values())
        renamed = []
        for key in sorted({key for key, _ in self.messages}):
            sides = {way: self.messages[key, way] for way in api_file.DIRECTIONS}
            if not valid_versions(sides["request"]) and key not in files:
                continue
            found = api_file.brought_to(self.label, texts.get(key), sides, self.left.words)
            self.left.add(found)
            path = files.get(key, SCHEMA / "definitions" / found.file)
            if found.text != texts.get(key):
                path.write_text(found.text, encoding="utf-8")
                self.left.changes.append(f"{path.name}: {found.text.splitlines()[0]}")
            for way, notes in found.notes.items():
                for new, old, last in notes.renamed:
                    renamed.append([str(key), way, str(last), old, new.rpartition(".")[2], self.jar.release])
        _edit(reference.FOLDER / "renamed.tsv", lambda text: text + "".join("\t".join(row) + "\n" for row in renamed))
        self.left.unsure += self._structs()

    def _structs(self) -> list[str]:
        """Structs inside bytes, which `definitions/embedded` has: a person reads what changed."""
        before = {each["name"]: each for each in self.all_before if each["type"] not in api_file.DIRECTIONS}
        lines = []
        for message in self.all:
            old = before.get(message["name"])
            if message["type"] in api_file.DIRECTIONS or (old and _wires(old) == _wires(message)):
                continue
            lines.append(
                f"{message['name']} ({message['type']}) is {'other than before' if old else 'new'}: does kanalyze read it?"
            )
        return lines

    def tables(self) -> None:
        keys, errors = self.facts["keys"], self.facts["errors"]
        flexible = {key: _flexible(self.messages[key, "request"]) for key, _ in self.messages}
        _edit(SCHEMA / "api_keys.tsv", lambda text: tables.known_keys(text, keys, flexible))
        _edit(SCHEMA / "error_codes.tsv", lambda text: tables.known_errors(text, errors))
        _edit(
            reference.FOLDER / "api_keys.tsv", lambda text: tables.listed_keys(text, self.jar.release, keys, flexible)
        )
        _edit(reference.FOLDER / "error_codes.tsv", lambda text: tables.listed_errors(text, self.jar.release, errors))
        _edit(reference.FOLDER / "header_versions.tsv", lambda text: tables.listed_headers(text, keys))
        known = (VIEWS / "kafka_releases.tsv").read_text(encoding="utf-8")
        newest = known.splitlines()[-1].split("\t")[0]
        if newest == self.label:
            self.left.unsure.append(
                f"readiness has {newest} already: if {self.jar.release} takes other versions, write them there"
            )
            return
        _edit(VIEWS / "kafka_releases.tsv", lambda text: tables.releases(text, self.label))
        _edit(
            VIEWS / "release_versions.tsv",
            lambda text: tables.release_versions(text, newest, self.label, self.jar.release, keys),
        )

    def reference(self) -> int:
        """The release's field lists and vectors; how many messages were written to look at, of which some are kept."""
        folder, name = reference.FOLDER, f"vectors-{self.jar.release}.jsonl.zst"
        kept = vectors.changed(self.messages, self.messages_before)
        headers = {key["key"]: [key["first"], key["headers"]] for key in self.facts["keys"]}
        past = [
            row for each in reference.releases() for row in reference.unpacked(folder / f"vectors-{each}.jsonl.zst")
        ]
        wanted = vectors.kinds(self.messages)
        rows = vectors.written(self.jar, wanted, self.messages, headers, vectors.pools(past))
        reference.pack(folder / f"fields-{self.jar.release}.jsonl.zst", self.all)
        reference.pack(folder / name, (row for row in rows if vectors.kind_of(row) in kept))
        (BUILD / "all").mkdir(parents=True, exist_ok=True)
        reference.pack(BUILD / "all" / name, rows)
        self.left.changes.append(
            f"{len(kept)} of {len(wanted)} API x version x direction are new or changed: their vectors are kept"
        )
        return len(rows)

    def change_log(self) -> None:
        new = sorted({key for key, _ in self.messages} - {key for key, _ in self.messages_before})
        names = [self.messages[key, "request"]["name"].removesuffix("Request") for key in new]
        count = len({kind.key for kind in vectors.changed(self.messages, self.messages_before)} - set(new))
        told = ", ".join([f"new versions of {count} APIs", *names])
        line = f"- Kafka {self.label}: {told}; `readiness` and `check` judge for it.\n"
        _edit(
            ROOT / "CHANGELOG.md",
            lambda text: text if line in text else re.sub(r"^- ", line + "- ", text, count=1, flags=re.M),
        )

    def checks(self, messages: int) -> None:
        """Layouts, documents, and the tests that hold all of it against the jar."""
        for script in (
            SCHEMA_TESTS / "schema" / "write_layouts.py",
            ROOT / "docs" / "write.py",
            ROOT / "docs" / "write_protocol.py",
        ):
            subprocess.run([sys.executable, str(script)], check=True, stdout=subprocess.DEVNULL, cwd=ROOT)
        words = [sys.executable, "-m", "pytest", "-q", "-n", "0", *(str(SCHEMA_TESTS / each) for each in TESTS)]
        done = subprocess.run(words, env=os.environ | {"KANALYZE_VECTORS": str(BUILD / "all")}, cwd=ROOT, check=False)
        self.left.is_right = done.returncode == 0
        fine = "as the release writes them" if self.left.is_right else "NOT ALL RIGHT: see the tests above"
        self.left.checks.append(
            f"{messages:,} messages of every API, version and direction, compiled, plain and interpreter: {fine}"
        )
        self.left.unlisted = unlisted()


def _wires(message: dict[str, Any]) -> list[Any]:
    return [(version, wire(message, version)) for version in sorted(valid_versions(message))]


def _flexible(message: dict[str, Any]) -> str:
    span = message.get("flexibleVersions", "none")
    return "-" if span == "none" else span.rstrip("+").partition("-")[0]


def _edit(path: Path, change: Any) -> None:
    path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(prog="make release", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("jar", type=Path, help="kafka-clients-4.5.0.jar, a file or a name; or: newest")
    parser.add_argument("--words", type=Path, help="roles and comments of new fields")
    chosen = parser.parse_args()
    known = reference.releases()[-1]
    jar = newest(known) if str(chosen.jar) == "newest" else chosen.jar
    if jar is None:
        print(f"{known} is the newest release of Kafka, and known")
        return 0
    release = Release(Jar(jar), words.read(chosen.words) if chosen.words else {})
    release.definitions()
    release.tables()
    messages = release.reference()
    release.change_log()
    release.checks(messages)
    (BUILD / "REPORT.md").write_text(release.left.page(), encoding="utf-8")
    print(release.left.page())
    return 0 if release.left.is_right else 1


if __name__ == "__main__":
    sys.exit(main())
