"""What every request goes through: framing, addresses, problems, the log of a request."""
