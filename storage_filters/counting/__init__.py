"""What requests move and compute, for each tenant, and their pace."""
