"""Which tests were skipped for want of a program that is not part of the project, and what to install."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

# Program -> Debian's package.
PACKAGES = {
    "Java": "default-jre-headless",
    "tshark": "tshark",
    "tcpdump": "tcpdump",
    "openssl": "openssl",
    "git": "git",
    "C compiler": "gcc python3-dev",
    "chromium": "chromium",
    "pdftotext": "poppler-utils",
}
_PROGRAM = re.compile("|".join(rf"\b{name}\b" for name in PACKAGES))


def lacking_programs(reasons: Iterable[str]) -> Iterator[str]:
    """One line for each program that the reasons of skipped tests name."""
    counts: Counter[str] = Counter()
    for reason in reasons:
        if (found := _PROGRAM.search(reason)) is not None:
            counts[found.group()] += 1
    for name, count in counts.most_common():
        tests = "1 test" if count == 1 else f"{count:,} tests"
        yield f"no {name}: {tests} skipped; Debian: apt install {PACKAGES[name]}"
