"""Checks of submissions, the same for the API and for the leader's schedules."""
