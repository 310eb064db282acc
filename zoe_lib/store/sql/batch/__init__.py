"""What is submitted and changed in numbers: arrays, workflows, schedules."""
