"""The table in docs/conformance.md of the faults that the kit knows, with the methods that can have each."""

import fedconvex as fc
from fedconvex.conformance.identification.edits import EVERY_EDIT, Edit
from fedconvex.conformance.setup import setup_of
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.methods.base import Method
from fedconvex.safe_text import markdown_table

STEPS = fc.GradientDescent(steps=4, stepsize=0.1)
METHODS: tuple[tuple[str, Method, LocalSolver | None], ...] = (
    ("FedGD", fc.FedGD(stepsize=0.1, local_steps=4), None),
    ("FedGD", fc.FedGD(stepsize=0.1, local_steps=4), fc.SGD(steps=4, batch_size=None, stepsize=0.1, momentum=0.5)),
    ("FedSGD", fc.FedSGD(stepsize=0.1), None),
    ("FedAvg", fc.FedAvg(epochs=4, stepsize=0.1), None),
    ("FedAvg", fc.FedAvg(epochs=2, stepsize=0.1, batch_size=2), None),
    ("FedAvgM", fc.FedAvgM(stepsize=0.1, local_steps=4, momentum=0.5, server_stepsize=0.75), None),
    ("FedAvgM", fc.FedAvgM(stepsize=0.1, local_steps=4, momentum=0.5, nesterov=True), None),
    ("FedAdagrad", fc.FedAdagrad(stepsize=0.1, local_steps=4, beta1=0.5), None),
    ("FedAdam", fc.FedAdam(stepsize=0.1, local_steps=4), None),
    ("FedYogi", fc.FedYogi(stepsize=0.1, local_steps=4), None),
    ("FedProx", fc.FedProx(mu=0.5), STEPS),
    ("FedNova", fc.FedNova(stepsize=0.1, local_steps=4), None),
    ("FedNova", fc.FedNova(stepsize=0.1, local_steps=4), fc.SGD(steps=4, batch_size=None, stepsize=0.1, momentum=0.5)),
    ("DANE", fc.DANE(mu=0.5, eta=0.5), STEPS),
    ("FedDANE", fc.FedDANE(mu=0.5), STEPS),
    ("FedLin", fc.FedLin(stepsize=0.1, local_steps=4), None),
    ("SCAFFOLD", fc.Scaffold(stepsize=0.1, local_steps=4, server_stepsize=0.5), None),
    ("SCAFFOLD", fc.Scaffold(stepsize=0.1, local_steps=4, option=1), None),
    ("FedDyn", fc.FedDyn(alpha=0.5), STEPS),
    ("FedDynOneGD", fc.FedDynOneGD(alpha=2), None),
    ("FedPD", fc.FedPD(eta=0.5), STEPS),
    ("Ditto", fc.Ditto(stepsize=0.1, local_steps=4, regularization=0.5), None),
    ("pFedMe", fc.PFedMe(regularization=0.5, stepsize=1.5, local_steps=2, server_stepsize=0.75), STEPS),
    ("FedADMM", fc.FedADMM(rho=2), STEPS),
    ("FedADMM", fc.FedADMM(rho=2, server_stepsize=0.5), STEPS),
    ("FedSplit", fc.FedSplit(stepsize=0.5), STEPS),
    ("FedSplit", fc.FedSplit(stepsize=0.5, server="active"), STEPS),
)


# It shares FedSplit's faults; the table names it only at a fault that FedSplit cannot have.
REGULARIZED = fc.RegularizedFedSplit(stepsize=0.5, regularization=0.5)


def methods_with(fault: Edit) -> tuple[str, ...]:
    """The names of the methods that can have this fault."""
    setups = ((name, setup_of(method, solver)) for name, method, solver in METHODS)
    return tuple(dict.fromkeys(name for name, setup in setups if fault.applies(setup)))


def table() -> str:
    """The known faults in Markdown, by the property that they violate."""
    everywhere = len(dict.fromkeys(name for name, *_ in METHODS))
    parts: list[str] = []
    entries = [(edit.name.format("…", "the one given"), edit) for edit in EVERY_EDIT]
    for broken in dict.fromkeys(fault.breaks for _, fault in entries):
        named: dict[str, tuple[str, ...]] = {}
        for name, fault in entries:
            if fault.breaks == broken:
                found = methods_with(fault)
                if not found and fault.applies(setup_of(REGULARIZED, STEPS)):
                    found = (type(REGULARIZED).__name__,)
                named[name] = tuple(dict.fromkeys((*named.get(name, ()), *found)))
        rows = [(name, "all" if len(of) == everywhere else ", ".join(of)) for name, of in named.items()]
        parts.append(f"**{broken[0].upper()}{broken[1:]}**\n\n{markdown_table(('what the report says', 'of'), rows)}")
    return "\n".join(parts)
