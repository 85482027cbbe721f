"""What an extract of findings must hold besides their own connections, so that read alone it leads to the same findings.

A rule judges over more than it shows: that a broker stood still is told by all who asked it, and that a line is slow by those who
were not. What each rule reads is known to its SQL alone. So wider choices are tried, one after the other, and the rules are asked
over each, until they find the same. A choice of more than MOST_BYTES is not for a bug report: where only such a one tells the same
numbers, the smallest is taken that leads to the same rule, and what it says instead is known.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from analyzer.base.filters import literal
from analyzer.extract.choice import all_of, listed, of_evidence, that_name_things
from analyzer.query.narrowed import can_narrow, narrowed
from analyzer.query.run_findings import find
from analyzer.report.sentences import sentence

if TYPE_CHECKING:
    from analyzer.query.dataset import Dataset
    from analyzer.query.incidents import Finding

    # Rule, severity, sentence; or without what comes last.
    Told = tuple[str, ...]

MOST_BYTES = 16 << 20
_SENTENCE = 2  # of Told


class Enough(NamedTuple):
    """The connections that are to be copied; `alone`: of each chosen finding the sentence that the extract has in its place, None:
    none; empty: all are told as they were."""

    connections: set[int]
    alone: list[str | None]


def enough_for(dataset: Dataset, connections: set[int], chosen: Sequence[Finding], found: Sequence[Finding]) -> Enough:
    """The connections, with as many others as it takes for the `chosen` among `found` to be found again, and nothing else before
    them. Where that would be more than MOST_BYTES, the first choice within them that leads to the same rules with the same
    severity, or to the rules at least; there the connections that show the findings represent those that are too many."""
    if not can_narrow(dataset):
        return Enough(connections, [])
    told, wanted = [_told(each) for each in found], [_told(each) for each in chosen]
    everything, core = all_of(dataset), connections
    if _bytes(dataset, connections) > MOST_BYTES:
        core = of_evidence(dataset, chosen) or connections
        core |= that_name_things(dataset, core)
    best, alike, tried_before = Enough(core, [None] * len(wanted)), 0, []
    for tried in (core, *_wider(dataset, connections, chosen), everything):
        if tried is not core and _bytes(dataset, tried) > MOST_BYTES:
            if alike >= _SENTENCE:
                break
            tried = _as_many_as_fit(dataset, core, tried)
        if tried in tried_before:
            continue
        tried_before.append(tried)
        if len(tried) == len(everything):
            return Enough(everything, [])
        with narrowed(dataset, tried) as alone:
            again = [_told(each) for each in find(alone)]
        likeness = _likeness(again, wanted, told)
        if likeness > _SENTENCE:
            return Enough(tried, [])
        if likeness > alike:
            best, alike = Enough(tried, _instead(again, wanted, likeness)), likeness
    return best


def _as_many_as_fit(dataset: Dataset, core: set[int], others: set[int]) -> set[int]:
    """The core, and of the others so many that MOST_BYTES are not passed. Ids are hashes: in their order they are of all kinds."""
    left, taken = MOST_BYTES - _bytes(dataset, core), set(core)
    for row in dataset.query(
        "SELECT connection, coalesce(client_bytes + broker_bytes, 0) AS bytes FROM all_connections "
        f"WHERE connection IN ({listed(dataset, others - core)}) ORDER BY connection"
    ):
        if row["bytes"] <= left:
            left -= row["bytes"]
            taken.add(row["connection"])
    return taken


def _likeness(again: Sequence[Told], wanted: Sequence[Told], told: Sequence[Told]) -> int:
    """How much of what was told leads to the same: 3 all, 2 rules and severities, 1 rules, 0 nothing."""
    for length in (3, 2, 1):
        if _leads_to(*([each[:length] for each in one] for one in (again, wanted, told))):
            return length
    return 0


def _leads_to(again: Sequence[Told], wanted: Collection[Told], told: Collection[Told]) -> bool:
    """Whether all that was wanted is found again, and before it nothing else."""
    if not all(each in again for each in wanted):
        return False
    last = max(again.index(each) for each in wanted)
    return all(each in told for each in again[: last + 1])


def _instead(again: Sequence[Told], wanted: Sequence[Told], likeness: int) -> list[str | None]:
    """What is said in the place of each that was wanted."""
    first = {each[:likeness]: each[_SENTENCE] for each in reversed(again)}
    return [first.get(each[:likeness]) for each in wanted]


def _told(finding: Finding) -> Told:
    return finding.rule.name, finding.severity, sentence(finding.rule.says, finding.row)


def _wider(dataset: Dataset, connections: set[int], chosen: Sequence[Finding]) -> Iterator[set[int]]:
    """These; with all that name the same client, group or topic; with all to the same brokers; with those of these brokers to
    others; with all of the same clients."""
    yield connections
    yield connections | _of_names(dataset, chosen)
    brokers, clients = (_hosts(dataset, connections, end) for end in ("broker", "client"))
    about = []
    for end, hosts in (("broker", brokers), ("client", brokers), ("client", clients)):
        about.append(f"{end}_address IN ({hosts})")
        rows = dataset.query(f"SELECT connection FROM all_connections WHERE {' OR '.join(about)}")
        wider = connections | {row["connection"] for row in rows}
        yield wider | that_name_things(dataset, wider)


def _of_names(dataset: Dataset, chosen: Sequence[Finding]) -> set[int]:
    def values(*columns: str) -> str:
        named = {each.row.get(column) for each in chosen for column in columns}
        return ", ".join(literal(value) for value in sorted(map(str, named - {None}))) or "NULL"

    rows = dataset.query(
        f"SELECT DISTINCT connection FROM all_exchanges WHERE client_id IN ({values('client_id', 'who')}) "
        f"OR group_id IN ({values('group_id')}) "
        f"OR exchange IN (SELECT exchange FROM all_entries WHERE topic IN ({values('topic')}))"
    )
    return {row["connection"] for row in rows}


def _bytes(dataset: Dataset, connections: set[int]) -> int:
    (row,) = dataset.query(
        "SELECT coalesce(sum(client_bytes + broker_bytes), 0) AS bytes FROM all_connections "
        f"WHERE connection IN ({listed(dataset, connections)})"
    )
    return int(row["bytes"])


def _hosts(dataset: Dataset, connections: set[int], end: str) -> str:
    rows = dataset.query(
        f"SELECT DISTINCT {end}_address AS host FROM all_connections WHERE connection IN ({listed(dataset, connections)})"
    )
    return ", ".join(literal(row["host"]) for row in rows) or "NULL"
