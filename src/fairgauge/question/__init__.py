"""What is asked: the options of an audit, sensitive features, rules and specification files."""
