"""Convert values to JSON and rows for storage, and back."""
