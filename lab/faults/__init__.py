"""Faults drawn from a seed, and a run of the production master under them."""
