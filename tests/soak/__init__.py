"""Steady work for half an hour with faults, while what programs and tables hold is sampled: it must not grow."""
