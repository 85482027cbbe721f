"""`kanalyze impact`: what was lost, refused, repeated or in vain?"""

from __future__ import annotations

from analyzer.cli.sections import section_command

command = section_command(
    "impact",
    "impact",
    "What was lost, refused, repeated or in vain, for whom.",
    """Print accounts of impact, whatever its cause: acknowledged records that are gone, what was refused, what had no reply, how
    connections ended, Fetches that were given nothing although records were there, the time that was spent on connecting, in
    rebalances and on requests, and requests that were repeated.

    Each request is in one row of an account, so the rows of an account add up, whatever --by groups them by. The parts of
    the time (queue, throttle, broker, proxies, network, unknown) add up to the time that requests waited. Requests that wait
    by design for data are left out.

    Rows above the limits are first and marked: impact is reported from there on, where no rule of `kanalyze findings`
    explains it.""",
    by=("api", "client", "app", "principal", "broker", "group", "topic", "connection"),
    tables=("exchanges", "errors"),
    with_entries=("topic",),
)
