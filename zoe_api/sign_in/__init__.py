"""Signing in by others: OpenID Connect providers and LDAP directories."""
