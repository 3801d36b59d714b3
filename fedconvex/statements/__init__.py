"""Published statements as objects: a formula that runs in any arithmetic, and assumptions that can be checked.

`statement` defines papers and their statements, `calculator` the evaluation of formulas, `assumptions` the hypotheses,
`instance` the problem and method on which they are checked. The statements themselves are in `fedconvex.theory`, one
module or folder per paper.
"""

from fedconvex.statements.calculator import Calculator as Calculator
from fedconvex.statements.conditions import Condition as Condition
from fedconvex.statements.notation import Parameter as Parameter
from fedconvex.statements.signs import Sign as Sign
from fedconvex.statements.statement import ClaimType as ClaimType
from fedconvex.statements.statement import Paper as Paper
from fedconvex.statements.statement import Statement as Statement
