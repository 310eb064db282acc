"""The loop that decides: observe, schedule, execute, tick by tick."""
