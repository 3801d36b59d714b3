"""Inequalities derived from the kernel's rules, as parts of a line: untrusted, since the kernel checks every sum."""

from fedconvex.proofs_checks.library.inequalities import Parts as Parts
from fedconvex.proofs_checks.library.inequalities import added_up as added_up
from fedconvex.proofs_checks.library.inequalities import by as by
from fedconvex.proofs_checks.library.inequalities import cauchy_schwarz as cauchy_schwarz
from fedconvex.proofs_checks.library.inequalities import cited as cited
from fedconvex.proofs_checks.library.inequalities import concluding as concluding
from fedconvex.proofs_checks.library.inequalities import gap_above_slope as gap_above_slope
from fedconvex.proofs_checks.library.inequalities import interpolation as interpolation
from fedconvex.proofs_checks.library.inequalities import jensen as jensen
from fedconvex.proofs_checks.library.inequalities import lipschitz as lipschitz
from fedconvex.proofs_checks.library.inequalities import rooted as rooted
from fedconvex.proofs_checks.library.inequalities import split as split
from fedconvex.proofs_checks.library.inequalities import squared as squared
from fedconvex.proofs_checks.library.inequalities import suboptimal as suboptimal
from fedconvex.proofs_checks.library.inequalities import sum_of as sum_of
from fedconvex.proofs_checks.library.inequalities import triangle as triangle
from fedconvex.proofs_checks.library.inequalities import young as young
from fedconvex.proofs_checks.library.lemmas import Lemma as Lemma
from fedconvex.proofs_checks.library.lemmas import lemma as lemma
from fedconvex.proofs_checks.library.lemmas import with_example as with_example
