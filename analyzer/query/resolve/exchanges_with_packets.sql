-- Raw exchanges with files and packets, numbered as Wireshark does, in place of (split, number in the split).
SELECT
    x.*,
    asked.file AS request_file,
    x.request_number + asked.packets_before AS request_packet,
    told.file AS response_file,
    x.response_number + told.packets_before AS response_packet
FROM raw_exchanges AS x
LEFT JOIN raw_splits AS asked ON asked.split = x.request_split
LEFT JOIN raw_splits AS told ON told.split = x.response_split
