"""Resources of this machine: cores and memory, control groups, ports, images."""
