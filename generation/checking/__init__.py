"""What code can decide about a candidate: one module for each group of checks."""
