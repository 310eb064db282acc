"""What becomes of it: executions, arrays, promises, limits, and what they use."""
