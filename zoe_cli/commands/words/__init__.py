"""Text and arguments that several commands share: tables, dates, arguments."""
