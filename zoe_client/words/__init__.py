"""Parse and format values for users: times, amounts, names, paths."""
