"""Health and restarts of the store's nodes."""
