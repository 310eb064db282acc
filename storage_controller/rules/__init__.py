"""Rules: their language, where they are stored, what is checked, and the modules that they run."""
