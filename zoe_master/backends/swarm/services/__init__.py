"""The containers of services: what is known of each, and the work on it."""
