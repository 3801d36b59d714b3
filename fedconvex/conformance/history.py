"""Names of the entries that `FaultyMethod` adds to a run's state, so that faults can refer to earlier rounds."""

NUMBER = "history: client number"  # memory (m, 1)
WEIGHT = "history: weight"  # memory (m, 1): the client's weight in the problem; also shared (m, 1): all weights
SAMPLES = "history: samples"  # memory (m, 1); also shared (m, 1): those of all clients
LAST_ROUND = "history: last round"  # memory (m, 1): the last round in which the client took part; −1 before the first
LAST_ANSWER = "history: last answer"  # memory (m, d): before the first, the server's initial point
ROUND = "history: round"  # shared (1,)
PREVIOUS_POINT = "history: previous point"  # shared (d,): the server's point one round ago
ALL_ANSWERS = "history: all answers"  # shared (m, d): LAST_ANSWER of all clients, for the server
LAST_MEAN = "history: last mean"  # shared (d,): the mean of the local models of the round before; at first x0
LAST_MEMORY = "history: last memory"  # shared (d,): what the last client at work stored for its correction, at first 0
ALL_Z = "history: all z"  # shared (m, d): FedSplit's z_k, where the server averages those of all clients
