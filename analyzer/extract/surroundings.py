"""What an extract of findings must hold besides their own connections, so that read alone it leads to the same findings.

A rule judges over more than it shows: that a broker stood still is told by all who asked it, and that a line is slow by those who
were not. What each rule reads is known to its SQL alone. So wider choices are tried, one after the other, and the rules are asked
over each, until they find the same.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from analyzer.base.filters import literal
from analyzer.extract.choice import all_of, listed, that_name_things
from analyzer.query.narrowed import can_narrow, narrowed
from analyzer.query.run_findings import find
from analyzer.report.sentences import sentence

if TYPE_CHECKING:
    from analyzer.query.dataset import Dataset
    from analyzer.query.incidents import Finding

    # Rule, severity, sentence; or without the sentence.
    Told = tuple[str, ...]

MOST_BYTES = 64 << 20


def enough_for(
    dataset: Dataset, connections: set[int], chosen: Sequence[Finding], found: Sequence[Finding]
) -> set[int]:
    """The connections, with as many others as it takes for the `chosen` among `found` to be found again, and nothing else before
    them. Where that would be more than MOST_BYTES, the same rules with the same severity are enough, whatever numbers they name."""
    if not can_narrow(dataset):
        return connections
    told, wanted = [_told(each) for each in found], {_told(each) for each in chosen}
    everything = all_of(dataset)
    alike: set[int] | None = None
    for tried in _wider(dataset, connections, chosen):
        if alike is not None and _bytes(dataset, tried) > MOST_BYTES:
            return alike
        if len(tried) == len(everything):
            break
        with narrowed(dataset, tried) as alone:
            again = [_told(each) for each in find(alone)]
        if _leads_to(again, wanted, told):
            return tried
        if alike is None and _leads_to(*([each[:2] for each in one] for one in (again, wanted, told))):
            alike = tried
    return everything


def _leads_to(again: Sequence[Told], wanted: Collection[Told], told: Collection[Told]) -> bool:
    """Whether all that was wanted is found again, and before it nothing that was not told."""
    if not all(each in again for each in wanted):
        return False
    last = max(again.index(each) for each in wanted)
    return all(each in told for each in again[: last + 1])


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
        f"WHERE connection IN ({listed(connections)})"
    )
    return int(row["bytes"])


def _hosts(dataset: Dataset, connections: set[int], end: str) -> str:
    rows = dataset.query(
        f"SELECT DISTINCT {end}_address AS host FROM all_connections WHERE connection IN ({listed(connections)})"
    )
    return ", ".join(literal(row["host"]) for row in rows) or "NULL"
