"""Requests to the swarm's managers: services, networks, gateways, nodes."""
