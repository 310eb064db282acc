"""Room that is kept on nodes for promised executions until they start."""
