"""Predicates over columns, shared by Spark, views and descriptions. Standard library only, for Swift's filters."""
