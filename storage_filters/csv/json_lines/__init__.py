"""Selection from JSON lines: the objects of a byte range, and some of their fields."""
