"""The loops that give bandwidth to tenants, and switch rules by metrics."""
