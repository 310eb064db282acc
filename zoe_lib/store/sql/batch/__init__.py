"""Writes of many rows: arrays, workflows, schedules."""
