"""What the tests are worth: measurements of the tests themselves."""
