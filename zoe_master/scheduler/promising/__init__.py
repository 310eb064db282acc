"""Promises: which guarantees make an execution end by a time, and what can be offered instead."""
