"""`make playground`: a filled installation to try things on."""
