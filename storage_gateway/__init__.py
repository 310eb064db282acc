"""A gateway: Swift's own proxy in front of a store that knows nothing of Zoe's filters."""
