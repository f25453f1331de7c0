"""Cases, documents, responses, samples and columns of scores: what all rooms speak of."""
