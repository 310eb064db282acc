"""WSGI filters for OpenStack Swift, installed by paste configuration; they need nothing else of Zoe."""
