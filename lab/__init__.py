"""Checks and measurements of Zoe's scheduling: invariants, faults, studies. No installation runs them."""
