"""What this machine offers: cores and memory, control groups, ports, images."""
