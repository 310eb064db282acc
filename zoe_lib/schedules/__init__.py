"""When schedules run: times of cron expressions in time zones, and what is due."""
