"""Valid TOML files: small experiments, one with all sections, and a deep run."""

SWEEP = """
id = "test.sweep"
title = "two methods on least squares"
source = "nowhere"
about = "small"
runner = "sweep"
seconds = 1
quick_seconds = 1

[run]
rounds = 40
seeds = 2

[data.small]
name = "fedsplit_least_squares"
clients = 3
samples = 8
features = 4

[methods."GD, e = 1"]
name = "FedGD"
stepsize = "=1/L"
local_steps = 1

[methods."GD, e = 5"]
name = "FedGD"
stepsize = "=1/L"
local_steps = 5

[methods.Prox]
name = "FedProx"
mu = "=L"
"""
DEEP = """
id = "test.deep"
title = "two methods on digits"
source = "nowhere"
about = "small"
runner = "deep"
seconds = 1
quick_seconds = 1

[run]
rounds = 3
seeds = 2
test = 0.2
measure = ["heterogeneity"]
participation = { name = "UniformThenWeighted", K = 2 }
local_solver = { name = "SGD", epochs = 1, stepsize = 0.1 }

[data.digits]
name = "digits"
clients = 4
partition = "by-label:3"

[methods.FedAvg]
name = "FedProx"
mu = 0

[methods.FedProx]
name = "FedProx"
grid = { mu = [0.1, 1] }
"""
# With all sections; what follows the text of SWEEP belongs to its last method.
EVERYTHING = (
    SWEEP.replace("seeds = 2", 'seeds = 2\nparticipation = { name = "Full" }').replace(
        "quick_seconds = 1", 'quick_seconds = 1\nalso = ["test.other"]'
    )
    + """local_solver = { name = "GradientDescent", steps = 1, stepsize = "=1/(2*L)" }

[methods.Grid]
name = "FedGD"
stepsize = "=1/L"
grid = { local_steps = [1, 5] }

[figure]
kind = "curves"
y = ["gap"]
log = true
levels = { small = [0.9, 0.8] }

[quick]
run = { rounds = 15 }
note = "shorter"

[[numbers]]
what = "the end"
ours = "last('gap', 'small', 'Prox')"
published = 1.5
source = "nowhere"

[[claims]]
claim = "it falls"
source = "nowhere"
each = { method = ["Prox"] }
holds = "last('gap', 'small', method) < 1"

[[choices]]
open = "all"
choice = "one"
alternatives = "two"
effect = { Prox = "last('gap', 'small', 'Prox')" }

[published]
methods = ["GD, e = 1", "Prox"]
source = "Table 1"

[published.rows]
small = { "98.2" = [100, 142], "97.2" = [31, 52] }
"""
)
RUN = """[data]
name = "digits"
clients = 4
partition = "by-label:3"
seed = 0
test = 0.2
standardize = true

[model]
name = "fully_connected"
sizes = [64, 10]
seed = 1

[method]
name = "FedProx"
mu = 0.1

[local_solver]
name = "SGD"
epochs = 1
stepsize = 0.1

[participation]
name = "UniformThenWeighted"
K = 2

[stragglers]
fraction = 0.5

[run]
rounds = 2
seed = 0
measure = ["heterogeneity"]
ridge = 0.0
dtype = "float64"
"""
