"""Basic values of the domain: times, amounts, reasons, conditions."""
