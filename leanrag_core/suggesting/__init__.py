"""Settings that the data of an index suggest: clustersize, tau, top-N and top-C, each with its evidence."""
