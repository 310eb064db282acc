"""Loops that divide bandwidth among tenants, and switch rules by metrics."""
