"""HTTP basics of every request: framing, addresses, problems, logging."""
