-- Which TLS handshakes fail, how, and what does the broker's certificate say? One row per broker, client address (null: several, `others`
-- besides `from_address`) and end: the alert of the side that ended it (null: unknown, or encrypted), the certificate's name, and when
-- it expires. `silent`: the broker closed without a byte. The most frequent first.
SELECT
    from_address, others, client_address, broker, times, coalesce(sender, ended_by) AS ended_by, alert, certificate,
    until_date_ns AS valid_until_ns, no_answer IS NOT NULL AS silent, connection, first_time_ns, last_time_ns
FROM failed_handshakes
ORDER BY times DESC, broker, from_address, alert
