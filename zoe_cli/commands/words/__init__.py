"""What several commands print and read: tables, dates, arguments."""
