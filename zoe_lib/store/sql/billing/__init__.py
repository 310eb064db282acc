"""What is used, metered and priced."""
