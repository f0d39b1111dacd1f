#!/usr/bin/python3
# The kernel of "tally": item i is the square of i as text of `bytes` characters. It speaks apps/CONTRACT.md.
import json, select, sys, time
stdin, stdout, length, pause = open(0, "rb", buffering=0), sys.stdout.buffer, 0, 0
def command(): return stdin.readline().decode().rstrip("\n").split(" ")

def answer(text, data=b""):
    stdout.write(text.encode() + b"\n" + data)
    stdout.flush()

def unit(item, end):
    while item < end:
        while select.select([stdin], [], [], 0)[0]:
            words = command()
            if words[0] == "end": end = min(end, int(words[1]))
            elif words[0] == "checkpoint": answer("checkpoint none")
            else: sys.exit(0)  # quit, or the end of the input
        if item < end:
            time.sleep(pause)
            square = str(item ** 2).ljust(length, ".").encode()
            answer(f"item {item} {len(square)}", square)
            item += 1
    answer(f"done {item}")

while (words := command())[0] not in ("quit", ""):
    if words[0] == "problem":
        parameters = json.load(open(" ".join(words[1:]) + "/parameters.json"))
        length, pause = parameters["bytes"], parameters["pause"]
    if words[0] == "unit": unit(int(words[2]), int(words[3]))
    elif words[0] != "end": answer({"gleaner": "ready 1", "problem": "ok", "checkpoint": "checkpoint none"}
                                   .get(words[0], "error unknown command"))
