"""A table of 40 loans, and the flags that audit it."""

# label, prediction, sex, region -> rows; F: tp 6 fp 2 fn 4 tn 8, M: tp 12 fp 3 fn 1 tn 4
CELLS = {
    ("yes", "yes", "F", "n"): 6, ("no", "yes", "F", "n"): 2, ("yes", "no", "F", "s"): 4,
    ("no", "no", "F", "s"): 8,
    ("yes", "yes", "M", "n"): 12,
    ("no", "yes", "M", "n"): 3, ("yes", "no", "M", "s"): 1, ("no", "no", "M", "s"): 4,
}  # fmt: skip
BASIC = ("--label", "approved", "--prediction", "predicted", "--positive", "yes")
SEX = (*BASIC, "--sensitive", "sex")


def table(cells: dict[tuple[str, ...], int] = CELLS) -> str:
    lines = [",".join(cell) + f",{20 + 2 * i}" for cell, n in cells.items() for i in range(n)]
    return "\n".join(["approved,predicted,sex,region,age", *lines, ""])
