"""State of the leader between ticks."""
