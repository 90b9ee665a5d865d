# States what survey, metafor and stats compute of rows.csv and of R's own tables: a name, a number.
suppressMessages({library(survey); library(metafor)})
state <- function(name, value) cat(sprintf("%s %.15g\n", name, as.numeric(value)))

common <- mantelhaen.test(aperm(UCBAdmissions, c(2, 1, 3)))
state("odds_ratio", common$estimate)
state("odds_ratio_low", common$conf.int[1])
state("odds_ratio_high", common$conf.int[2])
strata <- data.frame(
  ai = UCBAdmissions["Admitted", "Female", ], n1i = colSums(UCBAdmissions[, "Female", ]),
  ci = UCBAdmissions["Admitted", "Male", ], n2i = colSums(UCBAdmissions[, "Male", ])
)
state("risk_difference", rma.mh(ai = ai, n1i = n1i, ci = ci, n2i = n2i, data = strata, measure = "RD")$beta)
ratios <- escalc("RR", ai = ai, n1i = n1i, ci = ci, n2i = n2i, data = strata)
pooled <- rma(yi, vi, data = ratios, method = "DL")
state("heterogeneity", pooled$QE)
state("spread", sqrt(pooled$tau2))
for (k in 1:6) state(paste0("residual_", k), rstudent(pooled)$z[k])

rows <- read.csv("rows.csv")
weighted <- svydesign(~1, weights = ~w, data = rows)
shares <- svyby(~y, ~g, weighted, svymean)
state("weighted_a", shares["a", "y"])
state("weighted_a_error", shares["a", "se"])
clusters <- svydesign(~c, weights = ~w, data = rows)
left_out <- as.svrepdesign(clusters, type = "JK1", mse = TRUE)
shares <- svyby(~y, ~g, left_out, svymean)
state("clustered_a", shares["a", "y"])
state("clustered_a_error", shares["a", "se"])
f1 <- function(w, d) {
  of_a <- d$g == "a"
  2 * sum(w[of_a & d$y == 1 & d$p == 1]) / (sum(w[of_a & d$y == 1]) + sum(w[of_a & d$p == 1]))
}
found <- withReplicates(left_out, f1)
state("f1", found)
state("f1_error", sqrt(attr(found, "var")))
fit <- svyglm(y ~ I(g == "a") + factor(s), clusters, family = quasibinomial())
state("log_odds", coef(fit)[2])
state("log_odds_error", SE(fit)[2])
