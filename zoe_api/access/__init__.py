"""Who asks, what they may see, and how it is shown."""
