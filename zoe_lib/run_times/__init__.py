"""Estimate run times of applications from ended runs and their resources. Pure."""
