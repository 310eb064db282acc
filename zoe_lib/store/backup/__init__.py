"""Write, sign, check and restore backups."""
