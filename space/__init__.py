"""The Space: one module per tab, over the same functions as the command line."""
