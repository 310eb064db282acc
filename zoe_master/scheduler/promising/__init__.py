"""Promises: guarantees with which an execution ends by a time, and offers instead."""
