"""Where services fit: filters, weighers, packing, and the ledger of free resources."""
