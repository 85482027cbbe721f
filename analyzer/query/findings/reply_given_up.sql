-- severity: high
-- rank: 5
-- when: problems having count(*) FILTER (WHERE kind = 'unfinished_frame' AND side = 'broker') >= 3
-- says: {who} gives up in the middle of a reply of {reply_bytes} from {broker} ({api_name}[ of {topic}-{partition}][ from offset {asked_offset}]), {times|time|times}: its limit for the size of a reply is lower
-- do: Raise the client's limit for the size of a reply (librdkafka: receive.message.max.bytes, Python: receive_message_max_bytes, others have one of another name), or ask for less (fetch.max.bytes, max.partition.fetch.bytes); a single batch that is larger is sent all the same.
-- look: kanalyze unanswered[ --client {who}]
-- explains: unanswered, gives_up, connection_storm, metadata_storm, wrong_protocol, lag_growing, no_progress
-- costs: connections, unanswered, no progress
SELECT * FROM given_up_replies
