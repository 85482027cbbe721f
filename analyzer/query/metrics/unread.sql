-- What carried no TCP, or none that is read, by capture? Never filtered; a sentence a capture, those with most such packets first.
SELECT
    path,
    not_ip_packets + not_tcp_packets AS packets,
    unread,
    count(*) OVER () AS total_rows
FROM all_captures
WHERE unread IS NOT NULL
ORDER BY packets DESC, path
LIMIT 3
