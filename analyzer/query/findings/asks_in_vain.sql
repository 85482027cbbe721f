-- severity: info
-- rank: 97
-- when: totals having sum(metadata_requests) FILTER (WHERE is_client) >= 5
-- lasts: s(5)
-- says: {who} asks for metadata again and again, {requests|time|times}, and neither writes nor reads: it gets no further
-- do: Read the log of this client: a topic that does not exist, a right that it lacks, or an address that it cannot resolve. If the capture is cut, one with -s 0 shows the replies.
-- look: kanalyze latency --client {who} --api Metadata
-- explains: metadata_storm(UNREAD)
-- costs: repeated(Metadata)
SELECT * FROM asking_in_vain
