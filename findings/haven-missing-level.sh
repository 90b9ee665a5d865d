#!/usr/bin/env bash
# R's haven 2.5.1: a factor's level of missing values, which addNA() and forcats make, is saved as a group "NA" with a code.
#
# Expected: missing in SPSS and Stata, as a factor without that level is saved.
# Happens:  code 3 with the label "NA": whoever opens the file has a third group, and one answer of three is not missing.
# Seen on 1 December 2026: "2.5.1: SPSS 3 groups (F M NA), 0 missing; Stata 3 groups (F M NA), 0 missing"
# fairgauge asks about the group NA before a rule passes (docs/explanations/checks-of-data.md). The packages of R are Debian's, for an R that is installed.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
needed=$(apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces --no-enhances r-cran-haven | grep '^r-cran' | sort -u)
apt-get download -qq $needed 2>/dev/null; for package in *.deb; do dpkg -x "$package" .; done
R_LIBS=$folder/usr/lib/R/site-library Rscript -e '
suppressPackageStartupMessages(library(haven))
people <- data.frame(sex = addNA(factor(c("F", "M", NA))))
groups <- function(sex) sprintf("%d groups (%s), %d missing", length(attr(sex, "labels")), paste(names(attr(sex, "labels")), collapse = " "), sum(is.na(sex)))
write_sav(people, "people.sav"); write_dta(people, "people.dta")
cat(sprintf("%s: SPSS %s; Stata %s", packageVersion("haven"), groups(read_sav("people.sav")$sex), groups(read_dta("people.dta")$sex)))' > seen
seen=$(cat seen); echo "$seen"
[ "$seen" = "2.5.1: SPSS 3 groups (F M NA), 0 missing; Stata 3 groups (F M NA), 0 missing" ]
