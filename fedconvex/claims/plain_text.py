r"""LaTeX of formulas as one line of plain text: `\gamma^{t-1}` as γ^(t-1), for terminals."""

import re

SIGNS = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "varepsilon": "ε", "eta": "η",
    "theta": "θ", "kappa": "κ", "lambda": "λ", "mu": "μ", "rho": "ρ", "sigma": "σ", "tau": "τ", "omega": "ω",
    "Delta": "Δ", "ell": "ℓ", "nabla": "∇", "sum": "Σ", "le": "≤", "ge": "≥", "in": "∈", "cdot": "·", "top": "ᵀ",
    "langle": "⟨", "rangle": "⟩", "sqrt": "√", "infty": "∞", "to": "→", "lesssim": "≲", "approx": "≈", "quad": "  ",
    "qquad": "   ", "dots": "…", "lceil": "⌈", "rceil": "⌉",
}  # fmt: skip
ACCENTS = {"tilde": "\u0303", "bar": "\u0304", "hat": "\u0302"}
SILENT = ("left", "right", "big", "Big", "textstyle", "displaystyle", "limits")
POWERS = {"2": "²", "3": "³", "4": "⁴"}


def unicode(latex: str) -> str:
    """The formula in Unicode; fractions become a/b, scripts of several signs get brackets."""
    text = latex
    for command in ("mathbb", "mathrm", "mathit", "text"):
        text = re.sub(rf"\\{command}\{{([^{{}}]*)\}}", r"\1", text)
    text = re.sub(rf"\\({'|'.join(SILENT)})(?![a-zA-Z])\s?", "", text)
    text = re.sub(r"\\t?frac(\w)(\w)", r"\\frac{\1}{\2}", text)
    text = text.replace(r"\|", "‖").replace(r"\,", " ").replace(r"\ ", " ").replace(r"\_", "_")
    text = re.sub(r"\\tfrac\b", r"\\frac", text)
    text = re.sub(r"\\([a-zA-Z]+)", _sign, text)
    text = re.sub(r"(\\(?:tilde|bar|hat)) ?(\{\w\}|\w)", _accented, text)
    while (shorter := _FRACTION.sub(_fraction, text)) != text:
        text = shorter
    text = re.sub(r"√\{(\w)\}", r"√\1", text)
    text = re.sub(r"\^(?:\{(\d)\}|(\d))", lambda m: POWERS.get(m[1] or m[2], f"^{m[1] or m[2]}"), text)
    text = re.sub(r"_(\d)", lambda m: "₀₁₂₃₄₅₆₇₈₉"[int(m[1])], text.replace("_{-}", "₋"))
    text = re.sub(r"([\^_])\{(\w)\}", r"\1\2", text)
    while (shorter := re.sub(r"\{([^{}]*)\}", r"(\1)", text)) != text:
        text = shorter
    text = re.sub(r"\(\(([^()]*)\)\)", r"(\1)", text)
    return re.sub(r"([∇√ΣΔ]) (?=\w)", r"\1", re.sub(r"  +", " ", text)).strip()


_FRACTION = re.compile(r"\\frac ?\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}")


def _sign(match: re.Match[str]) -> str:
    return match[0] if match[1] in ACCENTS or match[1] == "frac" else SIGNS.get(match[1], match[1])


def _accented(match: re.Match[str]) -> str:
    return match[2].strip("{}") + ACCENTS[match[1][1:]]


def _fraction(match: re.Match[str]) -> str:
    text = "/".join(part if re.fullmatch(r"\d+|\w", part) else f"({part})" for part in match.groups())
    behind = match.string[match.end() :].lstrip()[:1]
    return f"({text}) " if behind and (behind.isalnum() or behind in "‖(⟨√∇") else text
