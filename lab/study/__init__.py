"""The scheduling study: which policy is best and safest, on seeded workloads with confidence intervals."""
