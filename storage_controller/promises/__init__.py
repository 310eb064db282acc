"""How much may be promised, and where it is held."""
