"""Commands that copy files, and the files that a run takes along."""
