"""Tables of which the raw tables say that they have no rows are not computed: none of them may have any."""

from __future__ import annotations

from collections import Counter

import pytest
from paths import ROOT, SAMPLES

from analyzer.base.options import Options
from analyzer.run import local, raw_views


@pytest.mark.slow
def test_they_have_none(monkeypatch: pytest.MonkeyPatch) -> None:
    told = raw_views.without_rows
    named: Counter[str] = Counter()
    last: list[str] = []

    def only_noted(*given: object) -> list[str]:
        last[:] = told(*given)  # type: ignore[arg-type]
        return []

    monkeypatch.setattr(raw_views, "without_rows", only_noted)
    paths = sorted((ROOT / "tests" / "data" / "incidents").glob("*.pcap*"))[:36:3]
    for path in paths:
        with local.open_dataset([str(path)], Options(jobs=1)) as found:
            for table in (*raw_views.MADE_OF, "group_events"):
                rows = found.query(f"SELECT count(*) AS rows FROM {table}")[0]["rows"]
                assert table not in last or rows == 0, f"{path.name}: {table}"
        named.update(last)
    # Of most tables both is seen: that they have rows, and that they have none.
    assert sum(0 < named[table] < len(paths) for table in (*raw_views.MADE_OF, "group_events")) >= 6, named


@pytest.mark.slow
def test_answers_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    path = next(path for path in sorted(SAMPLES.glob("*.pcap*")) if path.name.startswith("sweep"))
    answers = []
    for told in (raw_views.without_rows, lambda *_: []):
        monkeypatch.setattr(raw_views, "without_rows", told)
        with local.open_dataset([str(path)], Options(jobs=1)) as found:
            answers.append({table: found.query(f"SELECT * FROM {table} ORDER BY ALL") for table in found.tables()})
            types = {table: found.query(f"DESCRIBE {table}") for table in found.tables()}
            answers[-1]["types"] = [types]
    assert answers[0] == answers[1]
