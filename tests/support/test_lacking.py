"""What a run of the tests says of programs that are not there."""

from __future__ import annotations

from lacking import lacking_programs

from analyzer.spark.session import java_problem


def test_each_missing_program_is_one_line_with_its_package() -> None:
    java = java_problem({"PATH": ""})
    reasons = ["tshark is not installed", "Skipped: no tshark", java, "no shared captures beside the checkout"]
    assert list(lacking_programs(reasons)) == [
        "no tshark: 2 tests skipped; Debian: apt install tshark",
        "no Java: 1 test skipped; Debian: apt install default-jre-headless",
    ]
    assert list(lacking_programs([])) == []
