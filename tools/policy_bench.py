"""Parts of tools/bench strategies: Gleaner's policy against its limits, in the simulator."""
import json
import os
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]


def simulator(*arguments):
    program = pathlib.Path(os.environ["GLEANER_BUILD"]) / "bin" / "gleaner-sim"
    done = subprocess.run([str(program), *arguments], stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"gleaner-sim {' '.join(arguments)} ended with {done.returncode}")
    return done.stdout


def run_scenario(options, name, scenario, sets, straggler="split", seeds=None):
    """Gleaner's runs, kept in --files under that name."""
    kept = pathlib.Path(options.files) / f"{name}.json" if options.files else None
    if kept and kept.exists():
        return json.loads(kept.read_text())["strategies"][0]
    path = ROOT / "tools" / "simulator" / "scenarios" / f"{scenario}.toml"
    text = simulator("run", str(path), "--strategy", "gleaner", "--straggler", straggler, "--seeds", seeds or options.seeds,
                     "--json", *[part for change in sets for part in ("--set", change)])
    if kept:
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(text)
    return json.loads(text)["strategies"][0]


# Name, scenario, changes, how many seeds at most; limits: ratio's mean and worst, waste's mean and worst %, units a slot.
# tests/reproduction/GATES.md has what they held.
GATES = [
    ("classroom 2 h uniform", "classroom-2h", [], 20, (1.03, 1.05, 0.4, 1, 14)),
    ("classroom 2 h hump", "classroom-2h", ["problem.profile=hump"], 20, (1.03, 1.05, 0.4, 1, 14)),
    ("office 2 h uniform", "office-2h", [], 20, (1.03, 1.05, 0.4, 1, 14)),
    ("office 2 h hump", "office-hump", [], 20, (1.03, 1.05, 0.4, 1, 14)),
    ("office 2 h harsh 20", "office-harsh", [], 20, (1.04, 1.06, 0.5, None, 14)),
    ("office 2 h heavy", "office-heavy", [], 20, (1.05, 1.12, 1, None, 14)),
    ("office 2 h wild", "office-wild", [], 20, (1.16, 1.25, 2, None, 14)),
    ("office 2 h tail", "office-tail", [], 20, (1.28, 1.60, 7, None, 14)),
    ("classroom 24 h", "classroom-24h", [], 20, (1.02, 1.03, 0.2, 0.5, 60)),
    ("office 24 h", "office-24h", [], 20, (1.02, 1.03, 0.2, 0.5, 60)),
    ("office 24 h wild", "office-24h", ["problem.profile=wild"], 20, (1.04, 1.06, 2, None, 60)),
    ("campus 2 h uniform", "campus-2h", [], 8, (1.04, 1.06, 0.4, 1, 14)),
    ("campus 2 h heavy", "campus-2h", ["problem.profile=heavy"], 8, (1.12, 1.16, 1, None, 14)),
    ("campus 24 h", "campus-24h", [], 6, (1.02, 1.03, 0.2, 0.5, 60)),
    ("world 2 h uniform", "world-2h", [], 3, (1.04, 1.06, 0.4, 1, 14)),
    ("world 24 h", "world-24h", [], 3, (1.02, 1.03, 0.2, 0.5, 60)),
    ("office 2 h with prefetch (stretch)", "office-2h", ["network.prefetch=true"], 20, (1.010, None, None, None, 14)),
]


def bench_gates(options):
    if not options.seeds:
        sys.exit("gates: name fresh seeds, for example --seeds 8101-8120")
    first, last = (int(part) for part in (options.seeds + "-" + options.seeds).split("-")[:2])
    print(f"\ngleaner, seeds from {first} on: limit / ours\n")
    print("| gate | seeds | ratio | worst (seed) | waste % | worst % | units/slot | T100/T95 | held |")
    print("|---|---:|---|---|---|---|---|---|---|")
    missed = 0

    def cell(limit, ours, digits):
        return f"{ours:.{digits}f}" if limit is None else f"{limit:.{digits}f} / {ours:.{digits}f}" + (" **over**" if ours > limit else "")

    results = {}
    for title, scenario, sets, most, limits in GATES:
        if options.scenario and scenario not in options.scenario:
            continue
        seeds = f"{first}-{min(last, first + most - 1)}"
        name = title.replace(" ", "-")
        entry = results[title] = run_scenario(options, name, scenario, sets, seeds=seeds)
        runs = entry["runs"]
        ours = (entry["mean"]["ratio"], entry["worst"]["ratio"], 100 * entry["mean"]["waste"],
                100 * max(run["waste"] for run in runs), entry["mean"]["units_per_slot"])
        tail = [run["ratio"] / run["t95"] for run in runs]
        held = all(limit is None or value <= limit for limit, value in zip(limits, ours))
        text = f"{statistics.mean(tail):.3f}"
        if title.endswith("uniform"):
            held = held and statistics.mean(tail) <= 1.06 and max(tail) <= 1.10
            text = f"1.06 / {text}, worst 1.10 / {max(tail):.3f}"
        missed += not held
        print(f"| {title} | {len(runs)} | {cell(limits[0], ours[0], 3)} | {cell(limits[1], ours[1], 3)} "
              f"({entry['worst']['seed']}) | {cell(limits[2], ours[2], 2)} | {cell(limits[3], ours[3], 2)} | "
              f"{cell(limits[4], ours[4], 1)} | {text} | {'yes' if held else 'no'} |", flush=True)
    print("\n| against rDLB with commits | excess over ideal | of rDLB's (limit 0.25) | waste of rDLB's (limit 0.1) | held |")
    print("|---|---|---|---|---|")
    for title, scenario in (("classroom 2 h uniform", "classroom-2h"), ("office 2 h uniform", "office-2h")):
        if title not in results:
            continue
        ours, theirs = results[title], run_scenario(options, f"rdlb-{scenario}", scenario, [], "rdlb")
        share = (ours["mean"]["ratio"] - 1) / (theirs["mean"]["ratio"] - 1)
        waste = ours["mean"]["waste"] / theirs["mean"]["waste"]
        held = share <= 0.25 and waste <= 0.1
        missed += not held
        print(f"| {scenario} | {ours['mean']['ratio'] - 1:.4f} against {theirs['mean']['ratio'] - 1:.4f} | {share:.2f} | {waste:.3f} | "
              f"{'yes' if held else 'no'} |")
    print(f"\n{missed} not held")
