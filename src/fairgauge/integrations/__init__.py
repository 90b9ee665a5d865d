"""Where audits are used: pytest, MLflow and GitHub Actions, each in one module."""
