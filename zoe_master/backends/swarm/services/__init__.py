"""The containers of services: what is known of each, and what is done with it."""
