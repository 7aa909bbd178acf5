"""CRaQAn's generation package: articles in, question-answer pairs that need coreference resolution out."""

__version__ = "0.1.0"
