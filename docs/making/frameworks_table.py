"""The table in docs/frameworks.md, from stored runs.

In the framework's own environment, with `examples/frameworks` on PYTHONPATH, `python
examples/frameworks/tests/run_framework.py pfllib examples/frameworks/tests/found/pfllib.json` stores its run.
"""

import json
from pathlib import Path
from typing import Any

from fedconvex.safe_text import markdown_table

ROOT = Path(__file__).resolve().parents[2]
FOUND = ROOT / "examples/frameworks/tests/found"
# Where the source has what the kit found: read by a person, in the version that was run.
PLACES = {
    ("fedlab", "FedAvg"): "fedlab/contrib/algorithm/basic_server.py:88",
    ("fedlab", "FedProx"): "fedlab/contrib/algorithm/basic_server.py:88",
    ("fedlab", "FedNova, weighted_scale, equal weights"): "fedlab/contrib/algorithm/fednova.py:37",
    ("fedlab", "FedDyn"): "fedlab/contrib/algorithm/feddyn.py:23, 74, 75",
    ("fedlab", "FedDyn, regulariser mended"): "fedlab/contrib/algorithm/feddyn.py:23",
    ("fedlab", "FedDyn, server memory mended"): "fedlab/contrib/algorithm/feddyn.py:74, 75",
    ("flower", "FedProx, the documented client"): "flwr/serverapp/strategy/fedprox.py:77",
    ("flower", "FedProx, the documented client with a list"): "flwr/serverapp/strategy/fedprox.py:67",
    ("flower", "FedAdam"): "flwr/serverapp/strategy/fedadam.py:163",
    ("pfl", "SCAFFOLD"): "pfl/algorithm/scaffold.py:157",
    ("pfl", "SCAFFOLD, option I"): "pfl/algorithm/scaffold.py:133, 160",
    ("pfl", "SCAFFOLD, option I, stored copies"): "pfl/algorithm/scaffold.py:133",
    ("pfl", "SCAFFOLD, option I, sign mended"): "pfl/algorithm/scaffold.py:160",
    ("pfllib", "FedDyn"): "system/flcore/clients/clientdyn.py:45",
    ("fluke", "FedDyn"): "fluke/algorithms/feddyn.py:106, 132, 158, 249",
    ("nvflare", "SCAFFOLD"): "nvflare/app_common/workflows/scaffold.py:168",
    ("fedml", "FedAvg"): "fedml/ml/trainer/my_model_trainer_classification.py:16",
    ("fedml", "FedProx"): "fedml/ml/trainer/fedprox_trainer.py:11",
    ("fedml", "SCAFFOLD"): "fedml/ml/trainer/scaffold_trainer.py:11, 65; as with a copy",
    ("fedml", "SCAFFOLD, first model copied"): "fedml/simulation/sp/scaffold/client.py:51; "
    "fedml/ml/aggregator/agg_operator.py:116, 117",
    ("fedml", "FedDyn"): "fedml/ml/trainer/feddyn_trainer.py:22, 75, 77; "
    "fedml/simulation/sp/feddyn/feddyn_trainer.py:143, 147",
    ("fedml", "FedDyn, first model copied"): "fedml/ml/trainer/feddyn_trainer.py:75, 77; "
    "fedml/simulation/sp/feddyn/feddyn_trainer.py:143, 147",
    ("flbench", "SCAFFOLD"): "src/client/scaffold.py:45; src/server/scaffold.py:29",
    ("flbench", "FedADMM"): "src/client/fedadmm.py:13, 37; src/server/fedadmm.py:91",
    ("fedadmm", "FedADMM"): "FedADMM/src/update.py:42, 76",
    ("flbench", "FedDyn"): "src/client/feddyn.py:31; src/server/feddyn.py:42",
}


# A fault that is a reading of the paper: where it is stated, as here, every stored number is the method's.
READINGS = {("flbench", "FedAvgM"): ("the server's momentum is Nesterov's", "conforms with nesterov=True")}
EQUAL_WORK = "not covered: FedNova's division by the local work, since all clients did equal work"


def verdict_of(framework: str, method: str, found: dict[str, Any]) -> tuple[str, str]:
    """The verdict on a stored run, and what the kit says of it."""
    reading, verdict = READINGS.get((framework, method), ("", ""))
    if found["diagnosis"] == [reading]:
        return verdict, ""
    if not found["passed"]:
        return found.get("verdict", "differs"), "; ".join(found["diagnosis"])
    if method.startswith("FedNova") and "all clients did equal work" in found["report"]:
        return "undecided", EQUAL_WORK
    return "conforms" + (", to float32" if ", float32)" in found["report"].splitlines()[0] else ""), ""


def table() -> str:
    """Framework, version, method, verdict, what the kit says, and where that is in the source."""
    rows = []
    for file in sorted(FOUND.glob("*.json")):
        run = json.loads(file.read_text("utf-8"))
        for method, found in run["found"].items():
            verdict, said = verdict_of(file.stem, method, found)
            rows.append((file.stem, run["version"], method, verdict, said, PLACES.get((file.stem, method), "")))
    return markdown_table(("framework", "version", "method", "verdict", "the kit says", "where"), rows)
