-- severity: medium
-- rank: 9
-- when: all_brokers having count(*) = 0 AND (SELECT coalesce(sum(metadata_requests), 0) FROM totals WHERE status = 'answered') >= 10
-- lasts: s(5)
-- says: {broker} answers Metadata of {who} without naming a single broker, {times|time|times} in {lasted_ns}
-- do: A broker that has not heard of its cluster yet, or that is fenced, answers so, and so does a proxy without brokers behind it: see the log of what listens at this address, and whether its brokers are registered (kafka-broker-api-versions.sh, kafka-metadata-quorum.sh).
-- look: kanalyze connections --client {client_address}
-- explains: metadata_storm, repetition
-- costs: repeated(Metadata)
SELECT * FROM unnamed_brokers
