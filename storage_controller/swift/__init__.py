"""The controller's requests to Swift: views, places, rewritten objects."""
