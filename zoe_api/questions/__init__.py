"""Questions: requests that change nothing, declared with what bounds their work, and the processes of the long ones."""
