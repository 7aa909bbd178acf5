"""Evaluation: answers, evidence and derivations scored as their official evaluators do, one module each.

`answers`, `evidence` and `derivations` score one prediction; `official` takes whole files and gives the figures that
the official scripts print. Scores are fractions from 0 to 1, except where `official` copies a script's percentages.
"""
