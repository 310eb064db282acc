"""The demos and `make serve`: their data, settings and runs."""
