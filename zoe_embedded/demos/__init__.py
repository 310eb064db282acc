"""The demos and `make serve`: their data, their settings, their runs."""
