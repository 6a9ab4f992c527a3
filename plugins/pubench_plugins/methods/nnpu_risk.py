"""The risks of nnPU and the objective of a training step: plain formulas, for NumPy and for JAX alike.

Kiryo et al. 2017, "Positive-Unlabeled Learning with Non-Negative Risk Estimator", and for the imbalanced one Su et al.
2021, "Positive-Unlabeled Learning from Imbalanced Data". Outputs g are real numbers; the loss is that of the sigmoid,
l(z) = 1 / (1 + exp(z)), bounded by 1 and with l(z) + l(-z) = 1.
"""

from typing import Any, Literal, NamedTuple, TypeAlias

#: An array of NumPy or of JAX, and the module it belongs to: `numpy` or `jax.numpy`.
Array: TypeAlias = Any
Module: TypeAlias = Any
RiskName: TypeAlias = Literal["nnpu", "imbalanced"]


class RiskTerms(NamedTuple):
    """A batch's estimates of the risk of the positive class and of the negative one; the second may be negative."""

    positive: Array
    negative: Array


def sigmoid_loss(outputs: Array, xp: Module) -> Array:
    """Return l(z) = sigma(-z) for each output; by the hyperbolic tangent, which never overflows."""
    return (1 - xp.tanh(outputs / 2)) / 2


def pu_risk(name: RiskName, positive: Array, unlabeled: Array, prior: Array, xp: Module) -> RiskTerms:
    """Return the two risks of a batch.

    R+ = pi mean_P l(g)    and    R- = mean_U l(-g) - pi mean_P l(-g)

    "imbalanced" weights both classes alike: R+ / (2 pi) and R- / (2 (1 - pi)).

    Args:
        name: which of the two.
        positive: shape (n_positive,): outputs of labelled positives, at least one.
        unlabeled: shape (n_unlabeled,): outputs of unlabeled rows, at least one.
        prior: pi, the share of positives among unlabeled rows.
        xp: the module of the arrays.
    """
    on_positives = xp.mean(sigmoid_loss(positive, xp))
    rest = xp.mean(sigmoid_loss(-unlabeled, xp)) - prior * xp.mean(sigmoid_loss(-positive, xp))
    if name == "imbalanced":
        return RiskTerms(on_positives / 2, rest / (2 * (1 - prior)))
    return RiskTerms(prior * on_positives, rest)


def step_objective(risk: RiskTerms, beta: float, gamma: float, xp: Module) -> Array:
    """Return the objective of one step: R+ + R-, or -gamma R- alone where R- is below -beta.

    The risk of a class cannot be negative: there the net overfits single rows, and the step increases R- again.
    """
    return xp.where(risk.negative < -beta, -gamma * risk.negative, risk.positive + risk.negative)
