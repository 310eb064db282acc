"""Nodes, policy, replays, health."""
