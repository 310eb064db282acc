"""Values as people write and read them: times, amounts, names, paths."""
