"""Usage, metering, prices and budgets."""
