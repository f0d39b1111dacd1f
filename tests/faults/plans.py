"""What a seed draws: the scenario of one campaign."""
import random

POINTS = ["act-added", "answer-send", "answer-sent", "batch-sync", "batch-synced", "blob-move", "blob-write", "blob-written",
          "effects-performed", "note-write", "problem-finished", "results-kept", "results-stored", "row-inserted",
          "stage-combine", "stage-combined"]
RARE = {"problem-finished", "results-kept", "results-stored", "stage-combine", "stage-combined", "act-added"}
WEATHERS = ["lose-request", "lose-answer", "cut-request", "cut-answer", "double", "reorder", "delay"]
# What may go wrong, and how often it is drawn.
KINDS = {"kill": 4, "kill-at-point": 6, "error-at-point": 4, "cut-at-point": 5, "power-cut": 8, "disk-full": 6, "io-error": 6,
         "first-start": 3, "clock": 2, "month": 2, "network": 5, "partition": 2, "vanish": 3, "replay": 3, "two-servers": 2,
         "manager-killed": 3, "manager-stopped": 2, "manager-mishap": 3, "client": 3}
MISHAPS = ["crash", "exit", "nonsense", "foreign", "grow"]
STRATEGIES = ["gleaner", "ss,mode=paper", "gss", "fac2", "rts", "static"]


def draw(seed):
    """The scenario of a seed."""
    rng = random.Random(seed)
    count = rng.choices([1, 2, 3, 4], [3, 4, 2, 1])[0]
    names = list(KINDS)
    kinds = []
    while len(kinds) < count:
        kind = rng.choices(names, [KINDS[name] for name in names])[0]
        if kind not in kinds:
            kinds.append(kind)
    plan = {"seed": seed, "kinds": sorted(kinds), "items": rng.choice([12, 24, 48]), "hosts": rng.randint(2, 4),
            "bytes": rng.choice([0, 0, 40, 3000, 40_000]), "strategy": rng.choice(STRATEGIES),
            "straggler": rng.choice(["", "", "wqr", "none"]), "pause": rng.choice([0.0, 0.005, 0.02]),
            "lives": lives(rng, kinds), "weather": {}, "partition": None}
    if plan["bytes"] == 40_000:
        plan["items"] = 12
    if "network" in kinds:
        for rule in rng.sample(WEATHERS, rng.randint(1, 3)):
            plan["weather"][rule] = rng.uniform(0.02, 0.3)
        plan["weather"]["second-answer"] = 0.5
    if "partition" in kinds:
        begin = rng.uniform(0.2, 1.5)
        plan["partition"] = (begin, begin + rng.uniform(0.3, 2))
    if plan["straggler"] == "none" and {"vanish", "month", "client"} & set(kinds):
        plan["straggler"] = ""
    if "manager-mishap" in kinds:
        plan["mishap"] = rng.choice(["plan", "combine", "validate"]) + " " + rng.choice(MISHAPS)
    plan["rng"] = rng.randrange(1 << 30)
    # Walls around managers take most of a campaign's time.
    plan["sandbox"] = bool({"manager-mishap", "client"} & set(kinds)) or rng.random() < 0.2
    return plan


def cut_at(event):
    """The plain scenario in which the power fails once, at this event of the disk."""
    return {"seed": f"cut-{event}", "kinds": ["power-cut"], "items": 12, "hosts": 2, "bytes": 40_000 if event % 2 else 40,
            "strategy": "ss,mode=paper", "straggler": "", "pause": 0.0, "lives": [{"disk": f"seed={event},cut={event}"}], "weather": {},
            "partition": None, "rng": event, "sandbox": False}


def lives(rng, kinds):
    """The environments of the server's successive lives; after the last of them nothing is wrong with it any more."""
    all_lives = []
    for kind in kinds:
        seed = rng.randrange(1 << 30)
        if kind in ("kill-at-point", "cut-at-point", "error-at-point"):
            what = kind.split("-")[0]
            points = []
            for _ in range(rng.randint(1, 2)):
                name = rng.choice(POINTS)
                points.append(f"{name}:{1 if name in RARE else rng.randint(1, 30)}:{what}")
            all_lives.append({"GLEANER_FAILPOINT": ",".join(points), "disk": f"seed={seed}"})
        elif kind == "power-cut":
            for _ in range(rng.randint(1, 3)):
                all_lives.append({"disk": f"seed={seed},cut={rng.randint(1, rng.choice([30, 150, 400]))}"})
        elif kind in ("disk-full", "io-error"):
            word = "full" if kind == "disk-full" else "fail"
            begin, length = rng.randint(1, rng.choice([30, 150, 300])), rng.choice([1, 2, 5, 20, 60])
            # A power cut after it: what a failed sync may have lost is lost then.
            cut = f",cut={begin + length + rng.randint(1, 100)}" if rng.random() < 0.5 else ""
            all_lives.append({"disk": f"seed={seed},{word}={begin}:{length}{cut}"})
    rng.shuffle(all_lives)
    return all_lives


def plan_of(seed):
    """A seed's, or that of "cut-EVENT"."""
    return cut_at(int(seed.removeprefix("cut-"))) if isinstance(seed, str) else draw(seed)
