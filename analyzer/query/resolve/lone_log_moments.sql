-- Lines of logs of requests without a capture: when the broker had the request, and when it had written the reply, by its own clock.
SELECT log, line, logged_ns AS end_ns, logged_ns - total_ns AS begin_ns, CAST(0 AS BIGINT) AS slack_ns FROM raw_log_requests
