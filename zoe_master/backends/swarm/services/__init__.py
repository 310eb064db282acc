"""Services as tasks of a swarm: the managers' reports on them."""
