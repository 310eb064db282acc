"""Clients of LDAP directories, one of which a directory's settings name."""
