"""Written by `python docs/making/type_stubs.py` for type checkers, from the names that the package finds."""

from fedconvex.proofs_checks.claims import proof_of as proof_of
from fedconvex.proofs_checks.falsification import Counterexample as Counterexample
from fedconvex.proofs_checks.falsification import falsify as falsify
from fedconvex.proofs_checks.remarks import Remarks as Remarks
from fedconvex.proofs_checks.remarks import remarks_on as remarks_on
from fedconvex.proofs_checks.search.lyapunov.design import design as design
from fedconvex.proofs_checks.search.lyapunov.design_result import Design as Design
from fedconvex.proofs_checks.search.lyapunov.error_floors import ErrorFloor as ErrorFloor
from fedconvex.proofs_checks.search.lyapunov.error_floors import error_floor as error_floor
from fedconvex.proofs_checks.search.lyapunov.lyapunov import lyapunov as lyapunov
from fedconvex.proofs_checks.search.lyapunov.nonconvex_rates import NonconvexRate as NonconvexRate
from fedconvex.proofs_checks.search.lyapunov.rate import Rate as Rate
from fedconvex.proofs_checks.search.lyapunov.sublinear_rates import SublinearRate as SublinearRate
from fedconvex.proofs_checks.search.lyapunov.sublinear_rates import sublinear_rate as sublinear_rate
from fedconvex.proofs_checks.search.prove import prove as prove
from fedconvex.proofs_checks.verification import Result as Result
from fedconvex.proofs_checks.verification import catalogue as catalogue
from fedconvex.proofs_checks.verification import papers_with_proofs as papers_with_proofs
from fedconvex.proofs_checks.verification import verify as verify
from fedconvex.proofs_checks.verification import verify_all as verify_all
from fedconvex.proofs_checks.worst_cases.looseness.factor import looseness as looseness
from fedconvex.proofs_checks.worst_cases.questions.function_classes import ClientGroup as ClientGroup
from fedconvex.proofs_checks.worst_cases.questions.function_classes import ClientGroups as ClientGroups
from fedconvex.proofs_checks.worst_cases.questions.function_classes import PolyakLojasiewicz as PolyakLojasiewicz
from fedconvex.proofs_checks.worst_cases.questions.function_classes import QuadraticGrowth as QuadraticGrowth
from fedconvex.proofs_checks.worst_cases.questions.function_classes import Quadratics as Quadratics
from fedconvex.proofs_checks.worst_cases.questions.function_classes import SimilarClients as SimilarClients
from fedconvex.proofs_checks.worst_cases.questions.function_classes import SmoothConvex as SmoothConvex
from fedconvex.proofs_checks.worst_cases.questions.function_classes import SmoothStronglyConvex as SmoothStronglyConvex
from fedconvex.proofs_checks.worst_cases.questions.function_classes import WeaklyConvex as WeaklyConvex
from fedconvex.proofs_checks.worst_cases.result import WorstCase as WorstCase
from fedconvex.proofs_checks.worst_cases.theorems.discovered import Discovered as Discovered
from fedconvex.proofs_checks.worst_cases.theorems.discovery import discover as discover
from fedconvex.proofs_checks.worst_cases.worst_case import worst_case as worst_case

__all__ = [
    "ClientGroup",
    "ClientGroups",
    "Counterexample",
    "Design",
    "Discovered",
    "ErrorFloor",
    "NonconvexRate",
    "PolyakLojasiewicz",
    "QuadraticGrowth",
    "Quadratics",
    "Rate",
    "Remarks",
    "Result",
    "SimilarClients",
    "SmoothConvex",
    "SmoothStronglyConvex",
    "SublinearRate",
    "WeaklyConvex",
    "WorstCase",
    "catalogue",
    "design",
    "discover",
    "error_floor",
    "falsify",
    "looseness",
    "lyapunov",
    "papers_with_proofs",
    "proof_of",
    "prove",
    "remarks_on",
    "sublinear_rate",
    "verify",
    "verify_all",
    "worst_case",
]
