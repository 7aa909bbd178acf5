"""The way to a model's server: HTTP, dialects, replies, admission, batch jobs."""
