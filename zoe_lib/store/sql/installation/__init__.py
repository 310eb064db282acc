"""Tables of the installation as a whole: policy, upkeep, ticks."""
