"""Values as JSON and rows: what is stored in columns, and read again."""
