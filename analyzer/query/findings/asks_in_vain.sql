-- severity: info
-- rank: 97
-- when: totals having sum(metadata_requests) FILTER (WHERE is_client) >= 5
-- lasts: s(5)
-- says: {who} asks for metadata again and again, {requests|time|times}, and neither writes nor reads: it gets no further[; it is {library}, to which its broker offers Fetch up to v{fetch_to} alone]
-- do: {advice}
-- look: kanalyze latency --client {who} --api Metadata
-- explains: metadata_storm(UNREAD)
-- costs: repeated(Metadata)
SELECT * FROM asking_in_vain
