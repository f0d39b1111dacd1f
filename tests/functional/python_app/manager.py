#!/usr/bin/python3
# The manager of "squares": `count` items; the result is their sum. It speaks apps/CONTRACT.md.
import json, os, sys
stdin, parameters = sys.stdin.buffer, {}

def items(path, first, begin, end):
    with open(path, "rb") as segment:
        for item in range(first, end):
            data = segment.read(int.from_bytes(segment.read(4), "little"))
            if item >= begin: yield int(data)

def verdict(data, begin, end):
    at = 0
    for item in range(begin, end):
        length = int.from_bytes(data[at:at + 4], "little")
        value = data[at + 4:at + 4 + length]
        if len(value) != length or not value.isdigit(): return f"invalid item {item} is no whole number"
        at += 4 + length
    return "valid" if at == len(data) else "invalid more bytes than items"

def hints():
    if not parameters.get("uneven"): return ""
    open("hints.txt", "w").writelines(f"{item + 1}\n" for item in range(int(parameters["count"])))
    return "hints hints.txt\n"

def answer(text): print(text, flush=True)

while (words := stdin.readline().decode().rstrip("\n").split(" "))[0] not in ("quit", ""):
    if words[0] == "gleaner": answer("ready 1")
    elif words[0] == "problem":
        parameters = json.load(open(" ".join(words[1:]) + "/parameters.json"))
        answer("ok" if int(parameters.get("count", 0)) > 0 else "error count: must be a whole number above 0")
    elif words[0] == "plan": answer("end" if words[1] != "0" else f"items {parameters['count']}\nname squares\n{hints()}ok")
    elif words[0] == "validate": answer(verdict(stdin.read(int(words[4])), int(words[2]), int(words[3])))
    elif words[0] in ("combine", "preview"):
        pieces = [line.rstrip("\n").split(" ", 3) for line in open(" ".join(words[2:]))]
        total = sum(sum(items(path, int(first), int(begin), int(end))) for begin, end, first, path in pieces)
        directory = ("stage-" if words[0] == "combine" else "preview-") + words[1]
        os.makedirs(directory, exist_ok=True)
        open(f"{directory}/sum.txt", "w").write(f"{total}\n")
        answer(f"result sum.txt {directory}/sum.txt text/plain\nok")
    else: answer("error unknown command")
