"""A partition as a person names it, TOPIC-N, and whether the captures have it."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING

from analyzer.base.filters import literal
from analyzer.report.format import safe, things

if TYPE_CHECKING:
    from analyzer.query.dataset import Dataset

_WORD = re.compile(r"(?P<topic>.+)-(?P<number>\d{1,10})", re.DOTALL)
_MOST_NAMED = 3
_GREATEST = 2**31 - 1


class Unknown(ValueError):
    """No partition is meant, or none is there; the message is a line for a person."""


def parse(word: str) -> tuple[str, int]:
    """Topic and number: the last dash separates them. Raises Unknown."""
    found = _WORD.fullmatch(word)
    if found is None or int(found["number"]) > _GREATEST:
        raise Unknown(f"{safe(word)} is no partition: TOPIC-N is wanted, such as orders-3")
    return found["topic"], int(found["number"])


def check(dataset: Dataset, wanted: tuple[str, int]) -> None:
    """Raises Unknown, with names that are near, for a partition that nothing in the captures is about."""
    topic, number = wanted
    about = f"partition IS NOT NULL AND (topic = {literal(topic)} OR topic_id = {literal(topic)})"
    numbers = sorted({row["partition"] for row in dataset.query(_of_all("partition", about))})
    if number in numbers:
        return
    if numbers:
        ends = f"{numbers[0]} to {numbers[-1]}" if len(numbers) > 1 else str(numbers[0])
        raise Unknown(
            f"nothing is about partition {number} of topic {safe(topic)}; {things(len(numbers), 'partition')} of it "
            f"{'is' if len(numbers) == 1 else 'are'} in the capture: {ends}"
        )
    names = [row["topic"] for row in dataset.query(_of_all("topic", "topic IS NOT NULL"))]
    near = [
        f"{safe(name)}-{number}" for name in get_close_matches(topic, dict.fromkeys(names), n=_MOST_NAMED, cutoff=0.6)
    ]
    hint = f"did you mean {' or '.join(near)}?" if near else "`kanalyze topics` lists topics"
    raise Unknown(f"nothing is about topic {safe(topic)}; {hint}")


def _of_all(column: str, condition: str) -> str:
    return " UNION ".join(
        f"SELECT {column} FROM {table} WHERE {condition}" for table in ("entries", "batches", "assignments")
    )
