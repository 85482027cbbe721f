-- severity: medium
-- rank: 7
-- when: connections having count(*) FILTER (WHERE is_kafka AND closed_by = 'broker' AND requests > 0 AND broker_stream_bytes = 0 AND seen_from = 'syn') >= 3
-- says: {broker} {ends} connections of {who} at most {after_ns} after their first request ({api_name}), without a byte of a reply, {times|time|times}[; each begins with a {header}]
-- do: {advice}
-- look: kanalyze connections --client {who}
-- explains: unanswered, connection_storm, metadata_storm
-- costs: connections, unanswered
SELECT * FROM early_hangups
