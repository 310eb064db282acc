"""Interface of the master to storage controllers."""
