-- Where only the client's packets are in the capture nothing tells that a request had no reply: the reply was not captured.
SELECT
    x.* REPLACE (
        CASE WHEN x.one_way = 'client' AND x.status IN ('pending', 'closed', 'abandoned') THEN 'reply_lost' ELSE x.status END
            AS status
    )
FROM exchanges_with_ways AS x
