"""Where the README's figures come from, one command each: python -m benchmarks.NAME"""
