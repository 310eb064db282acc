"""Zoe on a PostgreSQL that fails over: Patroni with etcd, on machines that are network namespaces."""
