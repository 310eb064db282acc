"""From submission to result beside the bare program: `python -m benchmarks.start [ROW ...]`."""
