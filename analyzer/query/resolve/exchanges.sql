-- Exchanges with their connection, packets, durations and wait kind, and with the time that the broker had them: from when the request
-- was there, the reply before it had left and no throttle time ran, to when the reply left; of what a proxy carried on, without the
-- proxy and the way behind it. A duration is null when one of its ends is unknown, the clock ran back or jumped in between.
-- Durations are made in the last SELECT, of times of `raw_exchanges` that no step changes; the steps before are about the broker's time.
-- A packet left its host when its TCP timestamp says, but for a tick (1 ms); what was in queues for less than 1.3 ms was in none.
-- On an idle way a request is there at once, unless it was lost: a host acknowledges within 200 ms, whatever its broker does.
-- held: the reply may have been written long before it left. Without timestamps a packet may have left long before it came by,
-- where the way is not quiet. What would have left before it was asked for has no clock to trust. Numbers in `marks` are the MARK_ bits of `dissectors.layout`.
WITH packets AS (
    -- Files and packets, numbered as Wireshark does, in place of (split, number in the split).
    SELECT
        x.*,
        asked.file AS request_file,
        x.request_number + asked.packets_before AS request_packet,
        told.file AS response_file,
        x.response_number + told.packets_before AS response_packet
    FROM raw_exchanges AS x
    LEFT JOIN raw_splits AS asked ON asked.split = x.request_split
    LEFT JOIN raw_splits AS told ON told.split = x.response_split
),
-- The wait kind that the exchange itself tells, or for a Fetch its session. The facts are grouped by exchange though they have one row
-- for each: an engine that knows a key to be unique leaves the join out of questions that do not read its columns.
kinds AS (
    SELECT
        x.*,
        CASE
            WHEN x.api_key = api('Fetch') AND f.raft THEN 'fetch_raft'
            WHEN f.redirected THEN 'fetch_redirect'
            WHEN x.own_kind = 'fetch_unknown' THEN coalesce(f.state, x.own_kind)
            ELSE x.own_kind
        END AS kind,
        coalesce(f.crowded, false) AS crowded,
        f.inner_api_key,
        f.inner_client_id,
        p.proxy_ns,
        nullif(p.behind_ns, -1) AS behind_ns
    FROM packets AS x
    LEFT JOIN (
        SELECT
            exchange,
            bool_or(raft) AS raft,
            bool_or(redirected) AS redirected,
            bool_or(crowded) AS crowded,
            min(state) AS state,
            min(inner_api_key) AS inner_api_key,
            min(inner_client_id) AS inner_client_id
        FROM exchange_facts
        GROUP BY exchange
    ) AS f ON f.exchange = x.exchange
    LEFT JOIN (
        SELECT from_exchange, max(proxy_ns) AS proxy_ns, max_by(coalesce(way_ns, -1), proxies) AS behind_ns
        FROM forwarded
        WHERE proxies > 0 AND proxy_ns IS NOT NULL
        GROUP BY from_exchange
    ) AS p ON p.from_exchange = x.exchange
),
placed AS (
    SELECT
        -- A Fetch whose sender was cut off is that of its connection.
        x.* REPLACE (
            CASE
                WHEN x.kind = 'fetch_unknown' AND l.role = 'follower' THEN 'fetch_follower'
                WHEN x.kind = 'fetch_unknown' AND l.role = 'raft' THEN 'fetch_raft'
                ELSE x.kind
            END AS kind,
            CASE WHEN j.exchange IS NULL THEN x.queue_ns END AS queue_ns,
            CASE WHEN j.exchange IS NULL THEN x.muted_ns END AS muted_ns,
            -- On a way that is not quiet the last segment of a request may come long after the one before it.
            CASE WHEN l.is_quiet IS NOT FALSE OR (x.marks & mark('NEAR')) = 0 THEN x.ack_time_ns END AS ack_time_ns
        ),
        j.exchange IS NOT NULL AS has_jump,
        l.connection,
        l.client_address,
        l.client_port,
        l.broker_address,
        l.broker_port,
        l.principal,
        l.principal_from_ns,
        l.role,
        l.broker_id,
        l.mutes,
        l.one_way,
        l.is_closed_elsewhere,
        l.way_ns,
        l.is_beside,
        l.trusts_ids,
        coalesce(l.unseen_to_ns, 0) AS unseen_to_ns,
        coalesce(l.is_quiet, true) AS is_quiet,
        coalesce(l.to_broker_ns, 0) AS to_broker_ns,
        coalesce(l.byte_ns, 0) AS byte_ns,
        coalesce(l.sure_to_broker_ns, 0) AS sure_to_broker_ns,
        (x.request_lag_ns - l.client_lag_ns + lag_turns(1.5)) % lag_turns(1) - lag_turns(0.5) AS request_queued_ns,
        (x.reply_lag_ns - l.broker_lag_ns + lag_turns(1.5)) % lag_turns(1) - lag_turns(0.5) AS reply_queued_ns,
        (x.reply_end_lag_ns - l.broker_lag_ns + lag_turns(1.5)) % lag_turns(1) - lag_turns(0.5)
            AS reply_end_queued_ns,
        (x.before_lag_ns - l.broker_lag_ns + lag_turns(1.5)) % lag_turns(1) - lag_turns(0.5) AS before_queued_ns,
        (x.ack_lag_ns - l.broker_lag_ns + lag_turns(1.5)) % lag_turns(1) - lag_turns(0.5) AS ack_queued_ns
    FROM kinds AS x
    JOIN connection_context AS l ON l.part = x.part
    LEFT JOIN jumped_exchanges AS j ON j.exchange = x.exchange
    WHERE l.is_kafka
),
departures AS (
    SELECT
        *,
        response_time_ns - CASE WHEN reply_queued_ns >= ms(1.3) THEN reply_queued_ns ELSE 0 END AS left_min_ns,
        response_time_ns - CASE WHEN reply_queued_ns >= ms(1.3) THEN reply_queued_ns - ms(1) ELSE 0 END AS left_max_ns,
        request_end_ns + queue_ns - CASE WHEN before_queued_ns >= ms(1.3) THEN before_queued_ns ELSE 0 END AS before_min_ns,
        request_end_ns + queue_ns - CASE WHEN before_queued_ns >= ms(1.3) THEN before_queued_ns - ms(1) ELSE 0 END
            AS before_max_ns,
        ack_time_ns - CASE WHEN ack_queued_ns >= ms(1.3) THEN ack_queued_ns ELSE 0 END AS ack_min_ns,
        -- Behind an ACK that leaves out a segment at most, that is there as soon as the link can carry it.
        ack_time_ns - CASE WHEN ack_queued_ns >= ms(1.3) THEN ack_queued_ns - ms(1) ELSE 0 END
            + CASE WHEN (marks & mark('NEAR')) <> 0 THEN 500000 + byte_ns * 1500 ELSE 0 END AS ack_max_ns,
        -- No host delays an ACK for less. It may have been due sooner for a request before this one: one that nothing acknowledged (acks=0), or
        -- one whose reply was still to come. What was sent again may be acknowledged for its second copy. Of an ACK that leaves out a segment
        -- it is not known how long it was in queues: the reply behind it tells that there are none. It must be for bytes of this request.
        (marks & mark('PROMPT')) <> 0
            OR (marks & mark('ASKED_AGAIN', 'BEHIND_SILENT')) = 0
            AND CASE WHEN (marks & mark('NEAR')) = 0 THEN queue_ns = 0 ELSE request_bytes > 3000 AND reply_queued_ns < ms(1.3) END
            AND ack_time_ns - greatest(coalesce(ack_queued_ns, 0), 0) < request_end_ns + sure_to_broker_ns + ms(38) AS is_prompt,
        coalesce(reply_queued_ns, 0) > reply_held_ns
            OR (marks & mark('REPEAT', 'SHARED')) <> 0
            OR request_time_ns < unseen_to_ns
            OR ((marks & mark('JUMP')) <> 0 AND trusts_ids) AS held,
        -- Replies that share a packet on a way that is not quiet waited there together, the first one too.
        (marks & mark('BEHIND_HELD')) = 0 AND (is_quiet OR (marks & mark('SHARED')) = 0 AND before_queued_ns IS NOT NULL) AS is_before_known
    FROM placed
),
arrivals AS (
    SELECT
        *,
        CASE
            WHEN is_prompt AND NOT is_beside AND (is_quiet OR ack_queued_ns IS NOT NULL) THEN greatest(
                request_end_ns + sure_to_broker_ns, ack_min_ns - CASE WHEN (marks & mark('NEAR')) <> 0 THEN 0 ELSE ms(1) END
            )
            ELSE request_end_ns + sure_to_broker_ns
        END AS arrived_min_ns,
        CASE
            WHEN is_beside THEN request_end_ns
            WHEN is_prompt THEN greatest(request_end_ns + to_broker_ns, ack_max_ns)
            WHEN (marks & mark('IDLE')) <> 0 AND NOT crowded
                AND coalesce(ack_time_ns, response_time_ns) - request_end_ns - to_broker_ns <= to_broker_ns + ms(250)
                    THEN request_end_ns + to_broker_ns + 500000 + byte_ns * request_bytes
            ELSE greatest(request_end_ns + to_broker_ns, coalesce(ack_max_ns, left_max_ns))
        END AS arrived_max_ns
    FROM departures
),
begins AS (
    SELECT
        *,
        CASE
            WHEN muted_ns > 0 AND mutes THEN before_min_ns + muted_ns
            WHEN queue_ns > 0 AND is_before_known THEN greatest(arrived_min_ns, before_min_ns)
            ELSE arrived_min_ns
        END AS begin_min_ns,
        CASE
            WHEN muted_ns > 0 AND mutes THEN before_max_ns + muted_ns
            WHEN (marks & mark('BEHIND_SILENT')) <> 0 THEN left_min_ns
            WHEN queue_ns > 0 AND (marks & mark('COVERED')) <> 0 THEN before_max_ns
            WHEN queue_ns > 0 THEN greatest(arrived_max_ns, before_max_ns)
            ELSE arrived_max_ns
        END AS begin_max_ns,
        greatest(
            coalesce(response_end_ns - CASE WHEN reply_end_queued_ns >= ms(1.3)
                THEN reply_end_queued_ns - ms(1) ELSE 0 END, left_max_ns),
            left_max_ns
        ) AS end_left_ns,
        CASE WHEN mutes IS FALSE THEN coalesce(CAST(throttle_time_ms AS BIGINT), 0) * ms(1) ELSE 0 END AS kept_ns
    FROM arrivals
),
bounds AS (
    SELECT
        *,
        CASE
            WHEN queue_ns IS NULL OR (muted_ns > 0 AND mutes IS NULL) THEN NULL
            WHEN held OR left_max_ns + ms(2) < begin_min_ns OR (reply_queued_ns IS NULL AND NOT is_quiet) THEN 0
            ELSE greatest(left_min_ns - begin_max_ns - kept_ns, 0)
        END AS broker_min_ns,
        CASE
            WHEN queue_ns IS NULL OR (muted_ns > 0 AND mutes IS NULL) THEN NULL
            WHEN left_max_ns + ms(2) < begin_min_ns THEN response_time_ns - arrived_min_ns
            -- The broker has not done with a large reply before much of it has left.
            ELSE greatest(CASE WHEN response_bytes > 65540 THEN end_left_ns ELSE left_max_ns END - begin_min_ns - kept_ns, 0)
        END AS broker_max_ns,
        left_max_ns + ms(2) < begin_min_ns AS is_odd
    FROM begins
),
behind AS (
    SELECT
        * REPLACE (
            CASE WHEN proxy_ns IS NULL OR broker_min_ns IS NULL THEN broker_min_ns
                ELSE greatest(CASE WHEN behind_ns IS NULL THEN 0 ELSE broker_min_ns - proxy_ns - behind_ns END, 0) END AS broker_min_ns,
            CASE WHEN proxy_ns IS NULL OR broker_max_ns IS NULL THEN broker_max_ns ELSE greatest(broker_max_ns - proxy_ns - coalesce(behind_ns, 0), 0) END
                AS broker_max_ns
        )
    FROM bounds
),
-- Why the time in the broker is not known, as a number: words take longer to make and to compare. 0: it is.
doubts AS (
    SELECT
        *,
        CASE
            WHEN is_odd THEN 1
            -- What is left open is 4 ms at most: its middle is within 2 ms of all of it.
            WHEN held AND broker_max_ns > ms(4) THEN 2
            WHEN reply_queued_ns IS NULL AND NOT is_quiet AND broker_max_ns > ms(4) THEN 3
            WHEN response_bytes > 65540 AND end_left_ns - left_min_ns > greatest(ms(2), (left_max_ns - begin_min_ns) / 10) THEN 4
            WHEN (broker_max_ns - broker_min_ns) / 2 > greatest(ms(2), broker_max_ns / 20 + broker_min_ns / 20) THEN 5
            ELSE 0
        END AS doubt
    FROM behind
),
attributed AS (
    SELECT
        -- A broker's account of a request ends when its thread is back from the write of the reply, which may be on the wire by then: in
        -- the logs of brokers within 1 ms of 19 replies in 20.
        * REPLACE (broker_max_ns + ms(1) AS broker_max_ns),
        -- The middle of what is left open, where that is 4 ms at most.
        CASE WHEN arrived_max_ns - arrived_min_ns <= ms(4) AND (marks & mark('ASKED_AGAIN')) = 0 AND NOT has_jump THEN greatest(
            CAST(arrived_min_ns - request_end_ns + (arrived_max_ns - arrived_min_ns) / 2 AS BIGINT)
                + CASE WHEN request_queued_ns >= ms(1.3) THEN request_queued_ns - 500000 ELSE 0 END,
            0
        ) END AS there_ns,
        CASE
            WHEN (marks & mark('REPEAT')) <> 0 OR has_jump THEN NULL
            WHEN reply_queued_ns >= ms(1.3) THEN reply_queued_ns - 500000
            WHEN response_time_ns IS NOT NULL AND (reply_queued_ns IS NOT NULL OR is_quiet) THEN 0
        END AS back_ns,
        CASE WHEN doubt = 0 THEN
            broker_min_ns + CAST((broker_max_ns - broker_min_ns - (broker_max_ns - broker_min_ns) % 2) / 2 AS BIGINT)
        END AS broker_ns,
        CASE
            WHEN broker_max_ns IS NULL THEN NULL
            WHEN doubt = 1 THEN 'clock'
            WHEN doubt = 2 THEN 'held'
            WHEN doubt = 3 THEN 'no_timestamps'
            WHEN doubt = 4 THEN 'large'
            WHEN doubt = 5 THEN 'wide'
            WHEN muted_ns > 0 AND mutes THEN 'mute'
            WHEN queue_ns > 0 AND begin_max_ns = before_max_ns THEN 'reply'
            WHEN is_beside THEN 'beside'
            WHEN is_prompt THEN 'ack'
            ELSE 'idle'
        END AS broker_evidence
    FROM doubts
)
SELECT
    x.exchange,
    x.connection,
    x.client_address,
    x.client_port,
    x.broker_address,
    x.broker_port,
    x.api_key,
    x.api_name,
    x.api_version,
    x.correlation_id,
    x.client_id,
    CASE WHEN x.request_time_ns >= x.principal_from_ns THEN x.principal END AS principal,
    x.request_time_ns,
    x.request_end_ns,
    x.response_time_ns,
    x.response_end_ns,
    x.request_bytes,
    x.response_bytes,
    x.request_file,
    x.request_packet,
    x.response_file,
    x.response_packet,
    -- Where only the client's packets are in the capture nothing tells that a request had no reply: the reply was not captured.
    CASE WHEN x.one_way = 'client' AND x.status IN ('pending', 'closed', 'abandoned') THEN 'reply_lost'
        WHEN x.is_closed_elsewhere AND x.status = 'pending' THEN 'closed' ELSE x.status END AS status,
    x.kind,
    x.request_decoded,
    x.response_decoded,
    CASE WHEN x.request_end_ns >= x.request_time_ns AND NOT x.has_jump THEN x.request_end_ns - x.request_time_ns END AS send_ns,
    CASE WHEN x.response_time_ns >= x.request_end_ns AND NOT x.has_jump THEN x.response_time_ns - x.request_end_ns END AS latency_ns,
    CASE WHEN x.response_end_ns >= x.response_time_ns AND NOT x.has_jump THEN x.response_end_ns - x.response_time_ns END AS receive_ns,
    CASE WHEN x.response_end_ns >= x.request_time_ns AND NOT x.has_jump THEN x.response_end_ns - x.request_time_ns END AS total_ns,
    -- After a throttle time of a broker of which it is not known whether it mutes, the service time is unknown.
    CASE
        WHEN x.queue_ns IS NULL OR (x.muted_ns > 0 AND x.mutes IS NULL) THEN NULL
        WHEN x.muted_ns > 0 AND x.mutes THEN x.response_time_ns - x.request_end_ns - x.queue_ns - x.muted_ns
        WHEN x.queue_ns > 0 THEN x.response_time_ns - x.request_end_ns - x.queue_ns
        -- The time to the broker and back is part of the wait only if the wait began with the request.
        ELSE greatest(x.response_time_ns - x.request_end_ns - x.way_ns, 0)
    END AS service_ns,
    x.throttle_time_ms,
    x.error_code,
    x.error_count,
    x.topics,
    x.partitions,
    x.acks,
    x.status = 'no_reply_expected' AND x.acks IS NULL AS acks_inferred,
    x.max_wait_ms,
    x.min_bytes,
    x.isolation_level,
    x.session_id,
    x.session_epoch,
    x.group_id,
    x.member_id,
    x.transactional_id,
    x.replica_id,
    x.role,
    x.broker_id,
    x.generation_id,
    x.rack_id,
    x.timeout_ms,
    x.record_bytes,
    x.queue_ns,
    CASE WHEN x.mutes OR x.muted_ns = 0 THEN x.muted_ns WHEN NOT x.mutes THEN 0 END AS muted_ns,
    x.inner_api_key,
    x.inner_client_id,
    x.broker_min_ns,
    x.broker_max_ns,
    x.broker_ns,
    x.broker_evidence,
    CASE WHEN x.mutes OR x.muted_ns = 0 THEN x.muted_ns WHEN NOT x.mutes THEN 0 END + least(x.kept_ns, x.response_time_ns - x.request_end_ns)
        AS throttle_ns,
    x.there_ns,
    x.back_ns,
    CASE WHEN NOT x.has_jump THEN x.proxy_ns END AS proxy_ns,
    -- With a log of requests `logged_exchanges.sql` has them.
    CAST(NULL AS BIGINT) AS log_total_ns,
    CAST(NULL AS BIGINT) AS log_queue_ns,
    CAST(NULL AS BIGINT) AS log_local_ns,
    CAST(NULL AS BIGINT) AS log_remote_ns,
    CAST(NULL AS BIGINT) AS log_throttle_ns,
    CAST(NULL AS BIGINT) AS log_response_queue_ns,
    CAST(NULL AS BIGINT) AS log_send_ns
FROM attributed AS x
