"""Ceph's object gateway on loopback, with one node that stores everything in memory."""
