"""From where on impact is told, whatever its cause: where no rule explains it, a rule of the last ranks tells it by itself.

`impact('refusals')` in SQL is the number of a name. Times are ns, shares parts of one. docs/guides/questions.md states them.
"""

from __future__ import annotations

LIMITS: dict[str, int | float] = {
    "lost_records": 1,  # offsets that consumers could read and that are gone
    "refusals": 5,  # requests refused, transactions given up, connections that come to nothing
    "stuck_ns": 10_000_000_000,  # without progress while there is data, or unable to connect
    "slow_ns": 1_000_000_000,  # lost by a client or a group, and this part of its time:
    "slow_share": 0.05,
    "repeated_per_s": 5,  # requests of one API that a client repeats, for as long as it may be stuck
    "setup_ns": 2_000_000_000,  # until a connection or a login is ready
}
