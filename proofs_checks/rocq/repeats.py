"""Lemmas about signs that say what an earlier one says: they cite it, so that Rocq checks a formula once in a file."""

import re

LEMMA = re.compile(r"Lemma ([\w']+) : forall ([^:]*) : R,\n(.*?)\nProof\.\n.*?\nQed\.", re.S)


def without_repeats(text: str) -> str:
    """The text with shorter proofs of the lemmas whose conclusion an earlier one has, under no more hypotheses."""
    known: dict[str, list[tuple[str, list[str], set[str]]]] = {}

    def shorter(match: re.Match[str]) -> str:
        name, variables, said = match[1], match[2].split(), match[3]
        *given, conclusion = re.split(r" ->\s+", said.strip())
        for earlier, needed, hypotheses in known.get(conclusion, []):
            if set(needed) <= set(variables) and hypotheses <= set(given):
                head = match[0][: match[0].index("\nProof.")]
                return f"{head}\nProof. intros. apply ({earlier} {' '.join(needed)}); assumption. Qed."
        known.setdefault(conclusion, []).append((name, variables, set(given)))
        return match[0]

    return LEMMA.sub(shorter, text)
