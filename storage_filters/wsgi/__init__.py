"""Requests and answers as servers hand them on."""
