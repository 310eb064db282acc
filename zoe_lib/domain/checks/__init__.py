"""What of an application cannot run here, said before anything is started: one file of checks for each subject."""
