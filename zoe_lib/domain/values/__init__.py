"""What most others are made of: times, amounts, reasons, conditions."""
