"""Services with the lifetime of the process, for routes."""
