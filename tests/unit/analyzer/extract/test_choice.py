"""Many ids are chosen as few are."""

from __future__ import annotations

import pytest
from paths import SAMPLES

from analyzer.base.options import Options
from analyzer.extract import choice
from analyzer.run import local


def test_many_ids_as_few(monkeypatch: pytest.MonkeyPatch) -> None:
    with local.open_dataset([str(SAMPLES / "groups_848.pcap.zst")], Options(seldom=True)) as dataset:
        ids = choice.of_filters(dataset)
        assert len(ids) > 2
        some = set(sorted(ids)[::2])

        def answers() -> list[object]:
            made = choice.Choice(some)
            choice.add_spans(dataset, made)
            choice.add_comments(dataset, made, [])
            return [choice.that_name_things(dataset, each) for each in (ids, some, set[int]())] + [made]

        few = answers()
        monkeypatch.setattr(choice, "_MOST_IN_STATEMENT", 0)
        assert answers() == few
