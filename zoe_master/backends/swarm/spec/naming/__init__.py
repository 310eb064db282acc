"""Names and labels on a swarm."""
