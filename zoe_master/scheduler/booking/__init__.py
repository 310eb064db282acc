"""Room on nodes that is booked for promised executions until they start."""
