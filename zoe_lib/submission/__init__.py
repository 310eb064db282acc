"""What becomes of a request to run something: checked the same way for the API and for the leader's schedules."""
