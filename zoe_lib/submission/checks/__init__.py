"""What refuses a description that is well formed, and what its user is told: one file for each subject."""
