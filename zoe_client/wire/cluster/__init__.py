"""Nodes, policy, prices and use."""
