"""Files of users."""
