"""Runtimes installed once for all clones: Spark, Java, jars, programs."""
