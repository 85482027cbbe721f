-- severity: medium
-- rank: 17
-- when: group_news having count(*) FILTER (WHERE event = 'heartbeat' AND error_code = error('REBALANCE_IN_PROGRESS')) >= 3
-- lasts: s(30)
-- says: {who} (group {group_id}) is asked to join again and does not, for {lasted_ns}: {times|heartbeat was|heartbeats were} answered with REBALANCE_IN_PROGRESS
-- do: Most likely the member does not poll while it works on its records: lower max.poll.records, or process records outside the poll loop. The group waits for this member until max.poll.interval.ms is over, and with an eager assignor none of them consumes meanwhile.
-- look: kanalyze groups --group {group_id}
-- explains: not_asking, stuck_member
-- costs: rebalance
SELECT * FROM late_rejoins
