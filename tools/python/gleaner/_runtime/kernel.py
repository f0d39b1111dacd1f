#!/usr/bin/python3
"""The kernel of a function's calls: runs on donated computers and calls the function with one item's arguments after another."""
import sys

sys.dont_write_bytecode = True  # the bundle holds what was signed, and nothing else
import os
import traceback

from _gleaner import contract

# The function's own output would be taken for the kernel's words; its input for commands.
contract.stdout = os.fdopen(os.dup(1), "wb")
os.dup2(2, 1)
sys.stdout, sys.stdin = open(os.devnull, "w"), open(os.devnull)

from _gleaner import function

if lack := function.lacking():  # 127 before the first word: this computer is passed over, and the function is not blamed
    sys.exit(print(lack, file=sys.stderr) or 127)
try:
    contract.serve_kernel(function.load)
except ImportError as error:  # its last line says that this computer lacks a module; numpy's own message has fifty
    traceback.print_exc()
    sys.exit(f"{type(error).__name__}: {' '.join(str(error).split())[-500:]}")
