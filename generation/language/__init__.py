"""The embedded default's English: mentions, coreference, clauses and questions, on a spaCy parse."""
