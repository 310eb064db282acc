"""What the leader keeps of the store between ticks."""
