"""What python_calls.py imports from its own directory."""


def add(a, b):
    return a + b
