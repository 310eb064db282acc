"""What is one for all: policy, upkeep, ticks."""
