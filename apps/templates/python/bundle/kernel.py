#!/usr/bin/python3
"""The kernel: runs on volunteers' machines and computes one item after the other."""
import sys

sys.dont_write_bytecode = True  # the bundle holds what was signed, and nothing else
import contract
import primes


def load(parameters, inputs):
    limit, block = primes.settings(parameters)

    def compute(item):
        """The bytes of an item depend on the problem and on its number, on nothing else."""
        numbers = range(item * block, min((item + 1) * block, limit))
        return str(sum(primes.is_prime(number) for number in numbers)).encode()

    return compute


contract.serve_kernel(load)
