"""Checks of what the FedDyn paper says of its own tables and settings, against the numbers that they print."""

from collections.abc import Iterator
from fractions import Fraction

from fedconvex.proofs_checks.sentences.findings import Comparison, Evidence, SentenceVerdict, decides

REFUTED, ON_INSTANCES = SentenceVerdict.REFUTED, SentenceVerdict.ON_INSTANCES

# Models transmitted by FedDyn, SCAFFOLD, FedAvg, FedProx in Table 1; a number printed with + is a lower bound.
TABLE1 = (
    (637, 1852, 1000, 1000), (240, 512, 994, 825), (522, 1854, 1000, 1000), (159, 286, 822, 873),
    (444, 1880, 1000, 1000), (232, 594, 863, 930), (561, 1884, 1000, 1000), (170, 330, 959, 882),
    (840, 4000, 2000, 2000), (305, 928, 1277, 1274), (1445, 3982, 2000, 2000), (477, 1408, 1997, 1974),
    (831, 4000, 2000, 2000), (350, 2138, 1962, 1517), (969, 4000, 2000, 2000), (467, 2266, 1913, 1794),
)  # fmt: skip
# The same in the rows of MNIST in Table 5, and in Table 6.
TABLE5 = (
    (529, 956, 644, 451), (145, 290, 151, 143), (486, 1502, 863, 754), (180, 332, 199, 166), (521, 954, 951, 974),
    (157, 318, 169, 177),
)  # fmt: skip
TABLE6 = ((32, 70, 136, 49), (17, 88, 20, 18), (150, 164, 274, 275), (34, 260, 79, 106))
# Samples of a device, batch size, epochs, SCAFFOLD's K.
LOCAL_WORK = (
    (200, 10, 1, 20), (200, 10, 10, 200), (200, 10, 50, 1000), (500, 50, 10, 100), (600, 50, 10, 120),
    (600, 50, 20, 240), (600, 50, 50, 600), (480, 50, 50, 500), (2000, 100, 1, 20), (2000, 100, 5, 100),
    (100, 50, 2, 4), (100, 50, 5, 10), (500, 50, 2, 20),
)  # fmt: skip
TRAINING = (("MNIST", 60000, 600), ("EMNIST-L", 48000, 480), ("CIFAR-10", 50000, 500), ("CIFAR-100", 50000, 500))


@decides("feddyn.savings_over_all", REFUTED, rows=TABLE1)
def savings_over_all(rows: tuple[tuple[int, ...], ...] = TABLE5) -> Iterator[Evidence]:
    worst = min(rows, key=lambda row: Fraction(min(row[1:]), row[0]))
    yield Comparison("the best baseline and FedDyn, in the row of the least saving", min(worst[1:]), "<", worst[0])
    yield Comparison(
        "the rows of MNIST in which a baseline transmits less", sum(min(r[1:]) < r[0] for r in rows), ">", 0
    )


@decides("feddyn.always_fewer_rounds", REFUTED, models_per_round=1)
def always_fewer_rounds(models_per_round: int = 2) -> Iterator[Evidence]:
    less = [(mine, Fraction(other, models_per_round)) for mine, other, *_ in TABLE1 if other < models_per_round * mine]
    yield Comparison("the rows in which SCAFFOLD takes fewer rounds", len(less), ">", 0)
    for mine, other in less:
        yield Comparison("SCAFFOLD's rounds and FedDyn's", other, "<", mine)


@decides("feddyn.table6_range", ON_INSTANCES, rows=TABLE5)
def table6_range(rows: tuple[tuple[int, ...], ...] = TABLE6) -> Iterator[Evidence]:
    ratios = [Fraction(other, row[0]) for row in rows for other in row[1:]]
    for what, ratio, printed in (("least", min(ratios), 11), ("largest", max(ratios), 76)):
        yield Comparison(f"rounding of the {what} ratio", abs(10 * ratio - printed), "<=", Fraction(1, 2))


@decides("feddyn.same_local_work", ON_INSTANCES, rows=((600, 50, 10, 100),))
def same_local_work(rows: tuple[tuple[int, ...], ...] = LOCAL_WORK) -> Iterator[Evidence]:
    for samples, batch, epochs, steps in rows:
        yield Comparison(f"steps in {epochs} epochs of {samples} samples", -(-samples // batch) * epochs, "=", steps)


@decides("feddyn.points_per_device", ON_INSTANCES, devices=1000)
def points_per_device(devices: int = 100) -> Iterator[Evidence]:
    for name, samples, printed in TRAINING:
        yield Comparison(name, Fraction(samples, devices), "=", printed)
