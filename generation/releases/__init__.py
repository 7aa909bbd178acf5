"""From drafts and runs to the released rows and their card."""
