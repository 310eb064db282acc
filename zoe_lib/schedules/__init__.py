"""Schedules: times of cron expressions in time zones, and the runs that are due."""
