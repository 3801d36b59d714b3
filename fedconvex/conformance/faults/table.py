"""The catalogue of faults as a Markdown table: which methods can have which fault."""

from fedconvex.conformance.faults import Fault, FaultFamily, catalogue, families
from fedconvex.conformance.setup import setup_of
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.local_solvers.gradient_descent import GradientDescent
from fedconvex.local_solvers.sgd import SGD
from fedconvex.methods.base import Method
from fedconvex.methods.dane import DANE
from fedconvex.methods.ditto import Ditto
from fedconvex.methods.fedadagrad import FedAdagrad
from fedconvex.methods.fedadam import FedAdam
from fedconvex.methods.fedadmm import FedADMM
from fedconvex.methods.fedavg import FedAvg
from fedconvex.methods.fedavgm import FedAvgM
from fedconvex.methods.feddane import FedDANE
from fedconvex.methods.feddyn import FedDyn, FedDynOneGD
from fedconvex.methods.fedgd import FedGD
from fedconvex.methods.fedlin import FedLin
from fedconvex.methods.fednova import FedNova
from fedconvex.methods.fedpd import FedPD
from fedconvex.methods.fedprox import FedProx
from fedconvex.methods.fedsgd import FedSGD
from fedconvex.methods.fedsplit import FedSplit
from fedconvex.methods.fedyogi import FedYogi
from fedconvex.methods.pfedme import PFedMe
from fedconvex.methods.regularized_fedsplit import RegularizedFedSplit
from fedconvex.methods.scaffold import Scaffold

STEPS = GradientDescent(steps=4, stepsize=0.1)
METHODS: tuple[tuple[str, Method, LocalSolver | None], ...] = (
    ("FedGD", FedGD(stepsize=0.1, local_steps=4), None),
    ("FedGD", FedGD(stepsize=0.1, local_steps=4), SGD(steps=4, batch_size=None, stepsize=0.1, momentum=0.5)),
    ("FedSGD", FedSGD(stepsize=0.1), None),
    ("FedAvg", FedAvg(epochs=4, stepsize=0.1), None),
    ("FedAvg", FedAvg(epochs=2, stepsize=0.1, batch_size=2), None),
    ("FedAvgM", FedAvgM(stepsize=0.1, local_steps=4, momentum=0.5, server_stepsize=0.75), None),
    ("FedAdagrad", FedAdagrad(stepsize=0.1, local_steps=4, beta1=0.5), None),
    ("FedAdam", FedAdam(stepsize=0.1, local_steps=4), None),
    ("FedYogi", FedYogi(stepsize=0.1, local_steps=4), None),
    ("FedProx", FedProx(mu=0.5), STEPS),
    ("FedNova", FedNova(stepsize=0.1, local_steps=4), None),
    ("FedNova", FedNova(stepsize=0.1, local_steps=4), SGD(steps=4, batch_size=None, stepsize=0.1, momentum=0.5)),
    ("DANE", DANE(mu=0.5, eta=0.5), STEPS),
    ("FedDANE", FedDANE(mu=0.5), STEPS),
    ("FedLin", FedLin(stepsize=0.1, local_steps=4), None),
    ("SCAFFOLD", Scaffold(stepsize=0.1, local_steps=4, server_stepsize=0.5), None),
    ("SCAFFOLD", Scaffold(stepsize=0.1, local_steps=4, option=1), None),
    ("FedDyn", FedDyn(alpha=0.5), STEPS),
    ("FedDynOneGD", FedDynOneGD(alpha=2), None),
    ("FedPD", FedPD(eta=0.5), STEPS),
    ("Ditto", Ditto(stepsize=0.1, local_steps=4, regularization=0.5), None),
    ("pFedMe", PFedMe(regularization=0.5, stepsize=1.5, local_steps=2, server_stepsize=0.75), STEPS),
    ("FedADMM", FedADMM(rho=2), STEPS),
    ("FedADMM", FedADMM(rho=2, server_stepsize=0.5), STEPS),
    ("FedSplit", FedSplit(stepsize=0.5), STEPS),
    ("FedSplit", FedSplit(stepsize=0.5, server="active"), STEPS),
)


# It shares FedSplit's faults; the table names it only at a fault that FedSplit cannot have.
REGULARIZED = RegularizedFedSplit(stepsize=0.5, regularization=0.5)


def methods_with(fault: Fault | FaultFamily) -> tuple[str, ...]:
    """The names of the methods that can have this fault."""
    setups = ((name, setup_of(method, solver)) for name, method, solver in METHODS)
    return tuple(dict.fromkeys(name for name, setup in setups if fault.applies(setup)))


def fault_table() -> str:
    """The known faults in Markdown, by the property that they violate."""
    everywhere = len(dict.fromkeys(name for name, *_ in METHODS))
    lines: list[str] = []
    entries: list[tuple[str, Fault | FaultFamily]] = [(fault.name, fault) for fault in catalogue()]
    entries += [(family.name.format("…", "the one given"), family) for family in families()]
    for broken in dict.fromkeys(fault.breaks for _, fault in entries):
        lines += ["", f"**{broken[0].upper()}{broken[1:]}**", "", "| what the report says | of |", "|---|---|"]
        named: dict[str, tuple[str, ...]] = {}
        for name, fault in entries:
            if fault.breaks == broken:
                found = methods_with(fault)
                if not found and fault.applies(setup_of(REGULARIZED, STEPS)):
                    found = (type(REGULARIZED).__name__,)
                named[name] = tuple(dict.fromkeys((*named.get(name, ()), *found)))
        for name, methods in named.items():
            cell = name.replace("|", "\\|")
            lines.append(f"| {cell} | {'all' if len(methods) == everywhere else ', '.join(methods)} |")
    return "\n".join(lines[1:]) + "\n"
