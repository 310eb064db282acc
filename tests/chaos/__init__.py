"""Real programs under random kills and pauses, and a checker of what they left in journal and world."""
