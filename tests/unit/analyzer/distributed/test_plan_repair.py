"""The proof of a plan of many files: as by looking at each file with each other, in time that grows with them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from analyzer.distributed import plan_repair
from analyzer.distributed.plan import Plan, Task
from analyzer.inputs.readings import Reading
from analyzer.inputs.sources import Piece, Source

SECOND = 1_000_000_000


@given(st.lists(st.tuples(st.integers(0, 4), st.none() | st.integers(0, 20)), max_size=20))
def test_the_latest_packet_besides_a_file_is_known_after_one_look(seen: list[tuple[int, int | None]]) -> None:
    newest = plan_repair._Newest()
    for file, time in seen:
        newest = newest.with_one(file, time)
    for file in range(5):
        others = [time for each, time in seen if each != file and time is not None]
        assert newest.besides(file) == max(others, default=None)


def test_a_plan_of_many_files_is_proved_in_time_that_grows_with_them() -> None:
    """Each file is looked at so often as it has neighbours, not once for each other file."""
    looks = Counter[str]()

    class Told(dict[int, Reading]):
        def __getitem__(self, number: int) -> Reading:
            looks["found"] += 1
            return super().__getitem__(number)

    count = 2_000
    sources = [Source(f"{n}.pcap", Path(f"{n}.pcap"), 10, first_time_ns=n * SECOND) for n in range(count)]
    tasks = tuple(Task((Piece(n, n, source),)) for n, source in enumerate(sources))
    readings = [
        Reading(n, source, n, first_time_ns=n * SECOND, last_time_ns=n * SECOND + 9) for n, source in enumerate(sources)
    ]
    found = Told({reading.split: reading for reading in readings})
    assert plan_repair._repair_times(Plan(tasks, ("default",) * count), found) == tasks
    assert looks["found"] == count
