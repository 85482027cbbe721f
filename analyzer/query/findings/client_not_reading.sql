-- severity: medium
-- rank: 36
-- when: exchange_sorts having max(receive_ns) >= s(1)
-- says: {who} reads its replies too slowly: one took {receive_ns} to arrive while the client's receive window was full ({times|reply|replies})
-- do: The client is overloaded or undersized: let it fetch less at a time (fetch.max.bytes), or give it more CPU.
-- look: kanalyze connections[ --client {who}]
-- explains: slow_requests
-- costs: time
SELECT * FROM slow_readers
