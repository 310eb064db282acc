"""What the leader keeps in memory between ticks."""
