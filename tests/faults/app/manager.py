#!/usr/bin/python3
# The manager of "tally": `count` items; the result is how many there were, their sum, and the SHA-256 of all their bytes. With
# the parameter `mishap` ("combine crash") it does not do what it should. It speaks apps/CONTRACT.md.
import hashlib, json, os, sys, time
stdin, parameters = sys.stdin.buffer, {}

def items(path, first, begin, end):
    with open(path, "rb") as segment:
        for item in range(first, end):
            data = segment.read(int.from_bytes(segment.read(4), "little"))
            if item >= begin: yield data

def verdict(data, begin, end):
    at = 0
    for item in range(begin, end):
        length = int.from_bytes(data[at:at + 4], "little")
        if data[at + 4:at + 4 + length].rstrip(b".") != str(item ** 2).encode(): return f"invalid item {item} is no square"
        at += 4 + length
    return "valid" if at == len(data) else "invalid more bytes than items"

def answer(text): print(text, flush=True)

def mishap(what):
    if what == "crash": os.abort()
    if what == "exit": sys.exit(0)
    if what == "nonsense": answer("bananas")
    if what == "foreign": answer("result tally.txt ../../../keys/work.key text/plain\nok")
    if what == "grow": hold = [bytearray(os.urandom(1 << 20)) * 64 for _ in range(256)]
    if what == "hang": time.sleep(1000)

def combine(stage, listing):
    total, count, digest = 0, 0, hashlib.sha256()
    for begin, end, first, path in (line.rstrip("\n").split(" ", 3) for line in open(listing)):
        for data in items(path, int(first), int(begin), int(end)):
            total, count = total + int(data.rstrip(b".")), count + 1
            digest.update(data)
    time.sleep(parameters.get("combine_seconds", 0))
    os.makedirs(f"stage-{stage}", exist_ok=True)
    open(f"stage-{stage}/tally.txt", "w").write(f"{count} {total} {digest.hexdigest()}\n")
    answer(f"result tally.txt stage-{stage}/tally.txt text/plain\nok")

while (words := stdin.readline().decode().rstrip("\n").split(" "))[0] not in ("quit", ""):
    when, _, what = parameters.get("mishap", "").partition(" ")
    if when == words[0]: mishap(what)
    if words[0] == "gleaner": answer("ready 1")
    elif words[0] == "problem":
        parameters = json.load(open(" ".join(words[1:]) + "/parameters.json"))
        answer("ok" if int(parameters.get("count", 0)) > 0 else "error count: must be a whole number above 0")
    elif words[0] == "plan": answer("end" if words[1] != "0" else f"items {parameters['count']}\nname squares\nok")
    elif words[0] == "validate": answer(verdict(stdin.read(int(words[4])), int(words[2]), int(words[3])))
    elif words[0] == "combine": combine(words[1], " ".join(words[2:]))
    else: answer("error unknown command")
