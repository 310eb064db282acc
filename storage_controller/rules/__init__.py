"""Rules: their language, their storage, their checks, and the modules that they run."""
