"""One sample: the interval of a statistic of one side, by the kind of the statistic."""
