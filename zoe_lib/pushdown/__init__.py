"""Predicates over columns, as Spark, views and descriptions read them. Standard library only, for Swift's filters."""
