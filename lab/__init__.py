"""What checks and measures Zoe's scheduling: invariants, faults, studies. No installation runs it."""
