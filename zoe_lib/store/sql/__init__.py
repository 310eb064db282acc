"""SQL of the store on PostgreSQL: functions that take a connection and do one thing in its transaction."""
