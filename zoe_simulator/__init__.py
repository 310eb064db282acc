"""Run the production master over simulated time: traces of other clusters, and what-if questions."""
