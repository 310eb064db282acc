"""Sign-in with external identities: OpenID Connect providers and LDAP directories."""
