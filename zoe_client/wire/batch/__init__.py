"""Arrays, workflows and schedules."""
