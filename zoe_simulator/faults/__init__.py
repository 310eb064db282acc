"""Faults that are drawn from a seed, and a run of the production master that has to live with them."""
