"""The former name of `zoe_simulator`, for scripts made before 0.2; it goes in 1.0."""
