"""People, and their tokens, secrets, credentials, files and notifications."""
