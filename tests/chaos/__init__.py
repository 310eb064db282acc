"""Real programs under random kills and pauses, and a checker of the resulting journal and world."""
