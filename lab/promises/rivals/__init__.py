"""Other ways to meet deadlines, after published systems, on the same nodes, store and learned run times.

They decide by the sum of cores: every service of the study has one core, so the sum suffices. None of them guarantees
bandwidth. Services start and stop at once and cost nothing, as in the production run of the study.
"""
