"""Where audits are used: scikit-learn, pytest, MLflow and GitHub Actions, each in one module."""
