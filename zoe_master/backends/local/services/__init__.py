"""One service: its specification, start, observation and end."""
