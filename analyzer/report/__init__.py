"""Reports: from metrics only, never from packets."""
