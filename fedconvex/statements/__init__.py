"""What a published statement is to a machine: a formula that runs in any arithmetic, assumptions that can be checked.

The statements themselves are in `fedconvex.theory`, one module per paper.
"""

from fedconvex.statements.calculator import Calculator as Calculator
from fedconvex.statements.conditions import Condition as Condition
from fedconvex.statements.notation import Parameter as Parameter
from fedconvex.statements.signs import Sign as Sign
from fedconvex.statements.statement import ClaimType as ClaimType
from fedconvex.statements.statement import Paper as Paper
from fedconvex.statements.statement import Statement as Statement
