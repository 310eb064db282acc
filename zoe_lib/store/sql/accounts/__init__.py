"""Sign-in of people and machines."""
