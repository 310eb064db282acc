"""Rules of descriptions beyond the types of fields."""
