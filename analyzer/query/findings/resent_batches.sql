-- severity: medium
-- rank: 30
-- when: written_sums having sum(batches) FILTER (WHERE is_sequenced) >= 30
-- says: {who} resends {resent_share} of its batches ({resent} of {sent})
-- do: Its requests time out or its connections break: compare its request.timeout.ms with the Produce latency, and check its network.
-- look: kanalyze transactions[ --client {who}]
-- delays: nobody
SELECT * FROM batches_sent_again
