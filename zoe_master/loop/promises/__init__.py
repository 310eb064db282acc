"""Promises: decided beside the loop, journaled by it, adjusted while executions run."""
