"""Ceph's object gateway on loopback, with one node that keeps everything in memory."""
