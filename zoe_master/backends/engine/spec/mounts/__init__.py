"""Mounts of a container, and the proof that they are allowed."""
