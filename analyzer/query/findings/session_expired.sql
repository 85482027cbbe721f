-- severity: medium
-- rank: 14
-- when: group_news having (SELECT count(*) FROM errors WHERE code IN (error('UNKNOWN_MEMBER_ID', 'FENCED_MEMBER_EPOCH'))) > 0 OR max(begin_ns) FILTER (WHERE event IN ('join', 'leave') OR error_code = error('REBALANCE_IN_PROGRESS') OR group_type <> 'classic' AND assigned_partitions > 0) - (SELECT min(first_time_ns) FROM all_time_range) >= least(coalesce(min(CAST(session_timeout_ms AS BIGINT)) FILTER (WHERE session_timeout_ms > 0) * ms(1), s(5)), s(5))
-- and: group_requests having bool_or(error_code IN (error('UNKNOWN_MEMBER_ID', 'FENCED_MEMBER_EPOCH'))) OR (SELECT min(last_ns) FROM (SELECT max(last_time_ns) AS last_ns FROM group_requests WHERE api_key IN (api('OffsetCommit', 'JoinGroup', 'Heartbeat', 'SyncGroup')) AND error_code = error('NONE') GROUP BY group_id, client_id, client_address) AS q) <= (SELECT last_time_ns FROM time_range) - (SELECT CAST(min(session_timeout_ms) AS BIGINT) * ms(1) FROM group_news WHERE session_timeout_ms > 0) OR (SELECT min(last_ns) FROM (SELECT max(last_time_ns) AS last_ns FROM group_requests WHERE api_key IN (api('OffsetCommit', 'JoinGroup', 'Heartbeat', 'SyncGroup', 'ConsumerGroupHeartbeat')) AND member_id <> '' AND no_error(error_code) AND NOT is_orphan GROUP BY group_id, member_id) AS q) < (SELECT last_time_ns FROM time_range) - s(5)
-- says: {who} was removed from group {group_id} after {silence_ns} without a heartbeat, {times|time|times}[ (session timeout {session_timeout_ms})][; {back}]
-- do: The member was killed, its process paused (garbage collection, a suspended machine), or its network failed: check the client's host at that time.
-- look: kanalyze groups[ --group {group_id}]
-- explains: restarting_member, failing(UNKNOWN_MEMBER_ID|ILLEGAL_GENERATION|REBALANCE_IN_PROGRESS|FENCED_MEMBER_EPOCH|STALE_MEMBER_EPOCH|UNRELEASED_INSTANCE_ID), commit_failures, stuck_member, rebalance_loop, assigned_not_fetched
-- costs: rebalance
SELECT * FROM expired_sessions
