"""What a faulty run writes into its state, so that faults can look back: names of the entries."""

NUMBER = "book: number"  # memory (m, 1): which client it is
WEIGHT = "book: weight"  # memory (m, 1): its weight in the problem; also shared: everybody's
SAMPLES = "book: samples"  # memory (m, 1)
LAST_ROUND = "book: last round"  # memory (m, 1): the last round in which it took part; −1 before
LAST_ANSWER = "book: last answer"  # memory (m, d): the server's first point before
ROUND = "book: round"  # shared (1,)
PREVIOUS_POINT = "book: point before"  # shared (d,): the server's point one round ago
ALL_ANSWERS = "book: everyone's answers"  # shared (m, d): as LAST_ANSWER
ALL_Z = "book: everyone's z"  # shared (m, d): FedSplit's z_k, where the server averages all of them
