"""Zoe on a swarm of three engines beside bare docker-py, in one run: `python -m benchmarks.swarm [ROW ...]`."""
