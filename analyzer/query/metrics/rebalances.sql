-- Which rebalances were there, who started each and why, and how long did it take? `cause`: joined, left, rejoined (a member's
-- own wish: `reason`), silent (no word for `unheard_ns`), connection_lost or unknown; member, client and reason are of the one
-- who started it. `duration_ns` from the cause to the last sync (classic) or moved partition, `pause_ns` without any
-- consumer; a cooperative group's two generations are one rebalance. `complete` false: the capture holds no end of it.
SELECT
    nullif(r.cluster, '') AS cluster, r.group_id, r.group_type, r.begin_ns, r.end_ns, r.duration_ns, r.complete, r.cause, r.client_id,
    r.client_address, r.member_id, r.reason, r.unheard_ns, r.first_generation, r.last_generation, r.members, r.joined,
    r.left_members, r.lost_members, r.moved_partitions, r.pause_ns, r.protocol, r.exchange AS example_exchange
FROM group_rebalances AS r CROSS JOIN time_range AS t
WHERE r.group_id IN (
        SELECT group_id FROM group_news
        UNION
        SELECT group_id FROM group_requests WHERE api_key = api('OffsetCommit')
    )
    AND r.end_ns >= t.first_time_ns AND r.begin_ns <= t.last_time_ns
ORDER BY r.begin_ns, r.group_id, r.cluster
