"""The results for named statements: cached or recorded where the caller allows it, else from running the proofs."""

from collections import deque
from collections.abc import Iterable, Iterator
from enum import Enum

from fedconvex.proofs_checks.reporting import cache
from fedconvex.proofs_checks.reporting.recorded import as_recorded, recorded
from fedconvex.proofs_checks.reporting.records import Record, record
from fedconvex.proofs_checks.verification import papers_with_proofs, verify_all
from fedconvex.statements.statement import Paper, Statement, key_of
from fedconvex.theory import paper, statement
from fedconvex.theory.others import is_own

ORDER = ("definition", "assumption", "proposition", "theorem", "corollary", "lemma", "remark", "equation")


class Origin(Enum):
    """Where a verdict comes from."""

    RUN = "checked just now"
    KEPT = "checked on this machine before, and nothing that decides it has changed since"
    RECORDED = "as recorded with this version, not checked again"
    NONE = "from an earlier paper; it has no proof here"


def chosen(names: Iterable[str] = ()) -> list[Statement]:
    """The statements that the names select, once each: a paper selects all of its own, no name all papers with proofs.

    Raises InvalidInput for a name that is neither paper nor statement, with the nearest known ones.
    """
    found: dict[str, Statement] = {}
    for name in list(names) or papers_with_proofs():
        named = paper(name.strip().lower())
        some = [*in_order(named), *named.ours.values()] if named else [statement(name)]
        found |= {one.identifier: one for one in some}
    return list(found.values())


def in_order(paper: Paper) -> list[Statement]:
    """A paper's statements by kind and number."""

    def place(statement: Statement) -> tuple[int, float, str]:
        kind, _, number = statement.number.lower().partition(" ")
        # "Theorem 2.1.15" comes by its last number, because a book's chapters are not mixed here.
        digits = "".join(c for c in number.partition(" ")[0] if c.isdigit() or c == ".")
        major = float(digits.split(".")[-1]) if digits else 0.0
        return (ORDER.index(kind) if kind in ORDER else len(ORDER), major, key_of(statement.number))

    return sorted(paper, key=place)


def results(of: Iterable[Statement], *, kept: bool = True, records: bool = False) -> Iterator[tuple[Record, Origin]]:
    """The result for each statement and where it comes from, lazily and in order.

    Args:
        kept: use the cache: take results from it and put new ones into it.
        records: take the recorded verdict of a proved statement instead of running its proof.
    """
    known = recorded() if records else {}
    # One call of `verify_all` for all statements, so that it verifies what several rest on once. It takes each from
    # this queue, into which a statement goes just before its result is asked for.
    waiting: deque[Statement] = deque()
    verified = verify_all(iter(waiting.popleft, None))
    for one in of:
        cached = kept and is_own(one)  # files elsewhere change unnoticed
        found = cache.load(one.identifier) if cached else None
        if found is not None:
            yield found, Origin.KEPT
            continue
        found = as_recorded(one, known[one.identifier]) if one.identifier in known else None
        if found is not None:
            yield found, Origin.RECORDED
            continue
        waiting.append(one)
        found = record(next(verified))
        has_proof = one.paper.name in papers_with_proofs()
        if cached and has_proof:
            cache.store(found)
        yield found, Origin.RUN if has_proof else Origin.NONE
