"""Run Zoe on a bare machine: a home directory and an embedded PostgreSQL."""
