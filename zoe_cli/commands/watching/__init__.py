"""Commands that show what happens, and why."""
