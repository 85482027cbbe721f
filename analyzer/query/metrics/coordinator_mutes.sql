-- Whose connections to a group coordinator were muted for long? One row per client and connection: muted for
-- `muted_ns`, more than half of `session_timeout_ms`. The worst first.
SELECT * FROM muted_coordinators ORDER BY weight DESC, first_time_ns
