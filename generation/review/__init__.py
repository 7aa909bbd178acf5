"""Review by people, in parts: ballots and their count, the file they are kept in, the queue, exchange, agreement."""
