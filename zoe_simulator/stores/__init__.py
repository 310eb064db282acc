"""Object stores of simulated runs."""
