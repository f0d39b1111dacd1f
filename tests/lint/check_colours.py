"""The console's colours of items and hosts differ for everybody: normal eyes, and those without one kind of cone.

Colours are seen through the matrices of Machado, Oliveira and Fernandes (2009, severity 1) in linear sRGB, and compared as
distances in OKLab, where 0.02 is about what an eye can just tell apart.
"""
import itertools
import math
import re
import sys

from modules import ROOT

SOURCES = ROOT / "server" / "console" / "web" / "src"
APART_MIN = 0.1
EYES = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protan": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deutan": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritan": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}
LMS = ((0.4122214708, 0.5363325363, 0.0514459929), (0.2119034982, 0.6806995451, 0.1073969566), (0.0883024619, 0.2817188376, 0.6299787005))
LAB = ((0.2104542553, 0.7936177850, -0.0040720468), (1.9779984951, -2.4285922050, 0.4505937099), (0.0259040371, 0.7827717662, -0.8086757660))


def times(matrix, vector):
    return [sum(a * b for a, b in zip(row, vector)) for row in matrix]


def seen(colour, eye):
    """OKLab of "#rrggbb" through these eyes."""
    parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    through = [min(1, max(0, part)) for part in times(EYES[eye], linear)]
    return times(LAB, [part ** (1 / 3) for part in times(LMS, through)])


def colours():
    """By name, as the sources have them; free cells on light and dark ground."""
    palette = (SOURCES / "palette.ts").read_text()
    found = dict(re.findall(r'(accepted|quarantined|others) = "(#[0-9a-f]{6})"', palette))
    hosts = re.search(r"hosts = \[(.*?)\]", palette)[1]
    found.update({f"host {i}": each for i, each in enumerate(re.findall(r"#[0-9a-f]{6}", hosts))})
    grounds = sorted(set(re.findall(r"--cell: (#[0-9a-f]{6})", (SOURCES / "style.css").read_text())))
    return found, {f"free {each}": each for each in grounds}


def main():
    shown, grounds = colours()
    if len(shown) < 8 or len(grounds) < 2:
        sys.exit(f"only {len(shown)} colours and {len(grounds)} grounds were found: this check does not know how they are written any more")
    faults, least = [], math.inf
    for (a, first), (b, second) in [*itertools.combinations(shown.items(), 2), *itertools.product(shown.items(), grounds.items())]:
        for eye in EYES:
            apart = math.dist(seen(first, eye), seen(second, eye))
            least = min(least, apart)
            if apart < APART_MIN:
                faults.append(f"{a} ({first}) and {b} ({second}) are {apart:.3f} apart for {eye} eyes: less than {APART_MIN}")
    print("\n".join(faults) or f"colours: {len(shown)} and {len(grounds)} grounds, at least {least:.3f} apart for {', '.join(EYES)} eyes")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
