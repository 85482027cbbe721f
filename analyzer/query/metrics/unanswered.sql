-- Which requests have no reply, by API, whose, and how long did the longest wait? Waits end with the capture (pending) or with the
-- connection (closed, abandoned), in ns from the request's last byte. `who`: the first of so many `clients` that lost one. The row
-- without an API counts replies alone.
SELECT
    api_name, pending, closed, abandoned, lost, reply_lost, orphan_replies, longest_pending_ns, longest_closed_ns,
    example_exchange, who, clients
FROM unanswered_requests
ORDER BY closed + abandoned DESC, pending DESC, api_name
