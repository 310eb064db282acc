"""The sequence of the queue: orders, estimates, turns of tenants, limits."""
