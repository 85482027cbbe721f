-- Lines of logs of requests without a capture: each is an exchange, but for those that another broker forwarded.
SELECT log, line, exchange, connection FROM raw_log_requests WHERE exchange IS NOT NULL
