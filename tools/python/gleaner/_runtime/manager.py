#!/usr/bin/python3
"""The manager of a function's calls: accepts what is a value, and puts the results of all items into one file."""
import struct
import sys

sys.dont_write_bytecode = True  # the bundle holds what was signed, and nothing else
from _gleaner import calls, contract


class Manager:
    def __init__(self, parameters, inputs):
        self.calls, self.batch = parameters.get("calls"), parameters.get("batch")
        if any(type(number) is not int or number < 1 for number in (self.calls, self.batch)):
            raise ValueError("expected calls and batch as whole numbers above 0: Gleaner's Python package adds such problems")
        self.items = calls.batches(self.calls, self.batch)

    def check(self, item, data):
        """Results come from strangers: they are read, and nothing of them is run."""
        calls.outcomes(data, min(self.batch, self.calls - item * self.batch), arrays=False)

    def combine(self, items, directory):
        """The file that calls.read_results() reads; for a preview with the items that are there."""
        with open(directory / "results", "wb") as file:
            file.write(calls.results_header(self.calls, self.batch))
            for item, data in items:
                file.write(struct.pack("<QI", item, len(data)) + data)
        return {"results": "application/octet-stream"}


contract.serve_manager(Manager)
