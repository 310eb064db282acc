"""The authenticated way to ports of running services: each from an origin of its own, entered by a one-time ticket."""
