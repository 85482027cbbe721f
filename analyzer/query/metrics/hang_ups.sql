-- On which hosts do brokers hang up at once or after a wait, though they serve others of their connections? One row per host and
-- broker: `times` ended without a byte of the broker, `served` went on. The worst first.
SELECT * FROM hung_up_hosts ORDER BY weight DESC, first_time_ns
