"""Headers of packets, packet rows to segment rows: link layers, tunnels, IP, TCP; nothing here knows connections."""
