-- What did the broker's log say of each exchange that it has? One row per exchange; times are ns, null where that log has none.
SELECT
    exchange, log_total_ns, log_queue_ns, log_local_ns, log_remote_ns, log_throttle_ns, log_response_queue_ns, log_send_ns
FROM exchanges
WHERE log_total_ns IS NOT NULL
