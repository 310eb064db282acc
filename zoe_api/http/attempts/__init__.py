"""Sign-in attempts: their rate limits, and their audit entries."""
