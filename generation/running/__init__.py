"""A run as a person meets it: its folder, its limits, its progress, its tables, its engines."""
