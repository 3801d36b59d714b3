"""What statements assume, as objects that can be checked on a problem, a method and a participation scheme."""

from fedconvex.statements.assumptions.base import Assumption as Assumption
from fedconvex.statements.assumptions.base import Finding as Finding
from fedconvex.statements.assumptions.base import Given as Given
from fedconvex.statements.assumptions.base import StepsizeAtMost as StepsizeAtMost
from fedconvex.statements.assumptions.functions import BoundedVariance as BoundedVariance
from fedconvex.statements.assumptions.functions import BoundedVarianceEverywhere as BoundedVarianceEverywhere
from fedconvex.statements.assumptions.functions import Convex as Convex
from fedconvex.statements.assumptions.functions import Dissimilarity as Dissimilarity
from fedconvex.statements.assumptions.functions import DissimilarityAlongTheRun as DissimilarityAlongTheRun
from fedconvex.statements.assumptions.functions import LargeGradient as LargeGradient
from fedconvex.statements.assumptions.functions import NotStationary as NotStationary
from fedconvex.statements.assumptions.functions import Smooth as Smooth
from fedconvex.statements.assumptions.functions import SmoothObjective as SmoothObjective
from fedconvex.statements.assumptions.functions import StronglyConvex as StronglyConvex
from fedconvex.statements.assumptions.functions import StronglyConvexObjective as StronglyConvexObjective
from fedconvex.statements.assumptions.functions import WeaklyConvex as WeaklyConvex
from fedconvex.statements.assumptions.runs import Everyone as Everyone
from fedconvex.statements.assumptions.runs import ExactSolutions as ExactSolutions
from fedconvex.statements.assumptions.runs import Inexactness as Inexactness
from fedconvex.statements.assumptions.runs import InexactnessOfEach as InexactnessOfEach
from fedconvex.statements.assumptions.runs import MatchedStepsize as MatchedStepsize
from fedconvex.statements.assumptions.runs import Runs as Runs
from fedconvex.statements.assumptions.runs import SampledIID as SampledIID
from fedconvex.statements.assumptions.runs import SampledUniformly as SampledUniformly
from fedconvex.statements.assumptions.runs import StartsAtLocalMinima as StartsAtLocalMinima
