"""What processes log."""
