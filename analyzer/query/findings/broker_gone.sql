-- severity: high
-- rank: 6
-- when: connections having bool_or(is_kafka IS NOT TRUE AND seen_from = 'syn' AND syn_ack_ns IS NULL AND client_stream_bytes = 0) OR count(*) FILTER (WHERE seen_from = 'syn' AND broker_stream_bytes = 0 AND close <> 'none') >= 3 OR (SELECT last_time_ns FROM time_range) - min(last_time_ns) FILTER (WHERE role = 'follower' AND close <> 'none') >= s(10)
-- says: broker {broker}[, {alone},] became unavailable[, {stopped}][: {attempts|connection attempt|connection attempts} from {clients|address|addresses} failed after its last reply][: {never|attempt|attempts} to connect failed, from the beginning of the capture to its end, and partitions have no leader][: every connection over which it replicated from other brokers ended ({ended})][, {back}][ {away_ns} later][; meanwhile {refused_writes|write was|writes were} refused for lack of in-sync replicas]
-- do: Check the broker's log and its host: it was stopped, was killed, or lost its network.
-- look: kanalyze connections --broker {broker}
-- explains: heartbeats_missed*, out_of_sync*, refused_connections, hung_up_at_once, unanswered*, gives_up*, not_enough_replicas*, leader_loop*, no_leader*, request_timed_out*, head_of_line*, slow_replication*, broker_stalled*, connection_storm, metadata_storm*, slow_requests*, unexplained, repeated_connects*, silent_then_reset
-- costs: connections, unanswered, time
SELECT
    *,
    CASE WHEN host IN (
        SELECT client_address FROM broker_events
        WHERE broker_state = 'shutting_down' AND time_ns BETWEEN first_time_ns - s(60) AND last_time_ns
    ) THEN 'stopped in order' END AS stopped
FROM lost_brokers
