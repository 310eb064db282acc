"""Run Zoe on a machine without its prerequisites: a home directory and an embedded PostgreSQL."""
