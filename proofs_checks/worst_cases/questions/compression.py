"""Compressed vectors in a symbolic round: v plus an error, of which the compressor's promise is all that is known.

An unbiased error has mean 0 whatever came before it, and is independent of the other clients' errors: its products with
what came before vanish in expectation, and of m clients the share 1/m of its squares falls on their mean. What
functions answer later, at points that depend on it, may be related to it in any way, as all is to a contractive error.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, final

from fedconvex.arithmetic.rationals import to_fmpq
from fedconvex.compressors import Compressor, Contractive, Unbiased
from fedconvex.errors import InvalidInput
from fedconvex.proofs_checks.symbolic.random_vectors import require_no_draw
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import (
    MEAN,
    ONE,
    Family,
    Form,
    Key,
    combination,
    of_group,
    square,
)


@final
@dataclass(eq=False)
class Compression:
    """The errors of what is compressed in a round; `clients`: how many each group of equal ones has, 0: any number."""

    clients: tuple[int, ...]
    # The compressor, what was compressed, and its error.
    errors: list[tuple[Unbiased | Contractive, Any, Any]] = field(default_factory=list)
    squares: dict[Key, Form] = field(default_factory=dict)  # at most: of unbiased errors of a number of clients
    unbiased: set[Key] = field(default_factory=set)
    later: set[Key] = field(default_factory=set)  # basic vectors that may depend on unbiased errors

    def note(self, made: Any) -> Any:
        """Basic vectors that are new: they may depend on all errors so far."""
        if self.unbiased:
            self.later |= {key for k in range(len(self.clients)) for key in of_group(made, k).parts}
        return made

    def compressed(self, compressor: Compressor, vectors: Any, new: Any) -> Any:
        """What the clients send of these vectors, with the unknown vectors `new` as errors."""
        require_no_draw(vectors)
        if not isinstance(compressor, Unbiased | Contractive):
            problem = "is no Unbiased or Contractive one, and what it promises depends on the dimension"
            raise InvalidInput("compressor", compressor, problem, "give its `promise(d)`, for vectors of d entries")
        self.errors.append((compressor, vectors, new))
        for k, m in enumerate(self.clients):
            u, error = of_group(vectors, k), of_group(new, k)
            if isinstance(compressor, Unbiased):
                self.unbiased |= {*error.parts}
                for key in error.parts if m else ():
                    share = to_fmpq(1) / m if key[0] == MEAN else 1 - to_fmpq(1) / m
                    self.squares[key] = square(u) * (share * to_fmpq(compressor.omega))
            else:
                self.note(error)
        return vectors + new

    @property
    def inequalities(self) -> Iterator[tuple[str, Form]]:
        """What the compressors promise of the sizes of errors."""
        for n, (compressor, vectors, new) in enumerate(self.errors, 1):
            for k, m in enumerate(self.clients):
                error = of_group(new, k)
                if m and isinstance(compressor, Unbiased):
                    sizes = [(self.squares[key], square(Family({key: ONE}))) for key in error.parts]
                else:
                    most = compressor.omega if isinstance(compressor, Unbiased) else 1 - to_fmpq(compressor.delta)
                    sizes = [(square(of_group(vectors, k)) * to_fmpq(most), square(error))]
                yield from ((f"size of error {n}", self.expected(most - size)) for most, size in sizes)

    def expected(self, form: Form) -> Form:
        """The form without products that vanish in expectation."""
        if not self.unbiased:
            return form

        def vanishes(a: Key, b: Key) -> bool:
            return a != b and any(x in self.unbiased and y not in self.later for x, y in ((a, b), (b, a)))

        return Form({pair: c for pair, c in form.products.items() if not vanishes(*pair)}, form.values)

    def attained(self, form: Form) -> Form:
        """The form where errors are as large as compressors of so many clients may make them."""
        form = self.expected(form)
        while squares := [(c, self.squares[a]) for (a, _), c in form.products.items() if a in self.squares]:
            rest = {pair: c for pair, c in form.products.items() if pair[0] not in self.squares}
            form = self.expected(combination((ONE, Form(rest, form.values)), *squares))
        return form
