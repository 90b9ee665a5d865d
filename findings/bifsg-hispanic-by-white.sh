#!/usr/bin/env bash
# bifsg 0.1.1: the probability of an address given "Hispanic" is divided by the number of White Americans, so that where people live counts a third as much for Hispanic as for others.
#
# Expected: surname Pereira (31% Hispanic, 58% White in the Census list), a block of 60 Hispanic and 60 White people: 60 of 62 million Hispanic and 60 of 192 million White people
#           live there, and Bayes' rule makes the person more probably Hispanic: .59 to .36 (the method of Voicu 2018, which it names).
# Happens:  both are divided by DP1_0105C, White people; DP1_0093C, Hispanic people, is in its own file and not used: .32 to .60.
# Seen on 30 November 2026: "0.1.1: Hispanic 0.32, White 0.60; with the Hispanic population Hispanic 0.59, White 0.36"
# The counts of the block stand for the answer of the Census Bureau's service. fairgauge takes such probabilities as given, and docs/how-to/uncertain-groups.md compares them with self-reports.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv; venv/bin/pip install --quiet --disable-pip-version-check bifsg==0.1.1
cat > pereira.py <<'PY'
from importlib.metadata import version

from bifsg import BIFSG


class Block(BIFSG):
    def _GetCensusData(self):
        names = ("P2_002N", "P2_005N", "P2_006N", "P2_007N", "P2_008N", "P2_009N", "P2_010N", "P2_011N")
        return dict(zip(names, ("60", "60", "5", "1", "5", "1", "1", "2")))


person = Block("", "", "Pereira", "(not in the list)")
found = person.BIFSG_predict()
nation = person.nat_population
factor = int(nation["DP1_0105C"]) / int(nation["DP1_0093C"])
total = sum(found.values()) + found["hispanic"] * (factor - 1)
print(f"{version('bifsg')}: Hispanic {found['hispanic']:.2f}, White {found['white']:.2f}; "
      f"with the Hispanic population Hispanic {found['hispanic'] * factor / total:.2f}, White {found['white'] / total:.2f}")
PY
seen=$(venv/bin/python pereira.py | tail -1); echo "$seen"
[ "$seen" = "0.1.1: Hispanic 0.32, White 0.60; with the Hispanic population Hispanic 0.59, White 0.36" ]
