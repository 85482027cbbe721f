-- Which brokers were not at work, or not with all their log directories, as they and the controller told each other? One row per
-- broker and spell, `lasts_ns` from the first sign to the last; `usual_ns`: from one heartbeat to the next otherwise, of silences. The
-- longest first.
SELECT cluster, broker_id, node, broker_state, lasts_ns, usual_ns, offline_log_dirs, first_time_ns, last_time_ns
FROM broker_states
ORDER BY lasts_ns DESC, first_time_ns, node
