"""TCP reassembly, segment rows to bytes in order per direction; nothing here knows what the bytes mean."""
