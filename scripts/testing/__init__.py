"""The runner of the tests: tiers, costs, capabilities, quarantine, slices and mutants (docs/build/tests.md)."""
