"""What a description has to fulfil beyond the types of its fields."""
