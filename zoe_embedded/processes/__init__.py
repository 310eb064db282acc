"""Started programs: their logs, ports and ends."""
