"""Capture formats, bytes to packet rows: pcap, pcapng, which of them a file is; nothing here looks into packets."""
