"""What is asked of the swarm's managers: services, networks, gateways, nodes."""
