-- severity: medium
-- rank: 20
-- when: exchange_sorts having sum(exchanges) FILTER (WHERE kind = 'produce_acks_0' AND is_client) >= 3
-- and: connections having count(*) FILTER (WHERE closed_by = 'broker') >= 3
-- says: {broker} closes the connection of {who} right after a Produce with acks=0, {times|time|times}: it refuses the records, which are lost, and cannot say why, as no reply is expected
-- do: Set acks=1 on this producer for a while: then the reply names the error (no leader, too large, not authorized ...). The broker's log says it too, at "due to error during produce request".
-- look: kanalyze connections --client {who}
-- explains: acks_0, connection_storm, metadata_storm
-- costs: connections
SELECT * FROM unheard_refusals
