"""Ground costs for `WARLoss`, each made by one call, with the checks that the workflow makes of its own.

A ground cost C is a (C, C) matrix: what it costs to move probability from class i to class j. It is large between
classes that resemble each other, so that WAR smooths their boundary, and small between classes that do not.
"""

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, SupportsInt

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from warlab.errors import WarlabError
from warlab.ot.cost_checks import check_cost
from warlab.ot.points import class_centroids, from_points, word_points


def zero_one_cost(classes: int) -> Tensor:
    r"""Return the cost 1 between any two classes: transport becomes the total variation.

    With the defaults of `WARLoss` the iterations stay far below it for predictions that differ little: use `TVLoss`.

    .. math:: C_{ij} = 1 - \delta_{ij}

    Parameters
    ----------
    classes : int
        The number of classes, at least 2.

    Returns
    -------
    Tensor (classes, classes), float32
        The cost of the paper's variant WAR 0-1.

    Examples
    --------
    >>> from warlab import zero_one_cost
    >>> zero_one_cost(3)
    tensor([[0., 1., 1.],
            [1., 0., 1.],
            [1., 1., 0.]])
    """
    if isinstance(classes, bool) or not isinstance(classes, int) or classes < 2:
        raise WarlabError(f"zero_one_cost needs the number of classes, an integer of at least 2, not {classes!r}.")
    return 1 - torch.eye(classes)


def word_cost(
    names: Sequence[str],
    vectors: Mapping[str, ArrayLike] | str | PathLike[str] | Any | None = None,
    binary: bool = False,
) -> Tensor:
    r"""Return a cost from word vectors of the class names: the paper's WAR w2v.

    .. math:: C_{ij} = \exp\left(-\frac{\|e_i - e_j\|_2}{\max_{kl} \|e_k - e_l\|_2}\right), \qquad C_{ii} = 0

    where e_i is the vector of the name of class i. A name of several words ("pickup truck", "pickup_truck") is the
    mean of their vectors. The division by the largest distance is in the authors' code and not in the paper.

    Parameters
    ----------
    names : sequence of str
        One name per class, in the order of the labels.
    vectors : mapping, gensim KeyedVectors or model, path, optional
        Where the vectors come from: a dict of arrays, an object of gensim, or a file in word2vec format (read by
        gensim: ``pip install '.[words]'`` in the repository). Default: 577 words of GloVe 6B 100-d that come with
        warlab, enough for the classes of CIFAR, Fashion-MNIST, Clothing1M and common photographs.
    binary : bool
        Whether the file is in word2vec's binary format, as GoogleNews is. Default: False, as gensim's.

    Returns
    -------
    Tensor (C, C), float32
        Symmetric, zero on the diagonal, between exp(-1) and 1 elsewhere.

    Examples
    --------
    >>> from warlab import word_cost
    >>> word_cost(["cat", "dog", "truck"])
    tensor([[0.0000, 0.6784, 0.3679],
            [0.6784, 0.0000, 0.3843],
            [0.3679, 0.3843, 0.0000]])
    """
    if isinstance(names, str) or len(names) < 2 or not all(isinstance(name, str) for name in names):
        raise WarlabError(
            f"word_cost needs a list with the names of at least two classes, such as ['cat', 'dog'], not {names!r}."
        )
    return _make_cost(word_points(names, vectors, binary), "of words")


def centroid_cost(
    features: Tensor | ArrayLike, labels: Tensor | ArrayLike, classes: int | Sequence[str] | None = None
) -> Tensor:
    r"""Return a cost from the centroids of the classes in a feature space: the paper's WAR embed.

    .. math::
        C_{ij} = \exp\left(-\frac{\|m_i - m_j\|_2}{\max_{kl} \|m_k - m_l\|_2}\right), \qquad C_{ii} = 0, \qquad
        m_i = \frac{1}{|\{n : y_n = i\}|} \sum_{n : y_n = i} f_n

    The labels are the noisy ones that training sees: no clean label is needed.

    Parameters
    ----------
    features : array or Tensor (N, ...)
        The features of each sample under a network pre-trained on other data (the paper: ResNet-18, ImageNet), or its
        pixels. Anything after the first axis is flattened.
    labels : array or Tensor (N,) of integers
        The label of each sample.
    classes : int or sequence of str, optional
        The number of classes, or their names for messages. Default: the largest label + 1.

    Returns
    -------
    Tensor (C, C), float32
        Symmetric, zero on the diagonal, between exp(-1) and 1 elsewhere.

    Examples
    --------
    >>> from warlab import centroid_cost
    >>> features = [[0.0, 0.0], [0.0, 2.0], [0.0, 3.0], [8.0, 1.0]]
    >>> centroid_cost(features, labels=[0, 0, 1, 2])
    tensor([[0.0000, 0.7846, 0.3790],
            [0.7846, 0.0000, 0.3679],
            [0.3790, 0.3679, 0.0000]])
    """
    points, given = _to_array(features), _to_array(labels)
    if classes is None:
        classes = int(given.max()) + 1 if given.size and given.dtype.kind in "iu" else 0
    names = [str(k) for k in range(int(classes))] if isinstance(classes, SupportsInt) else list(classes)
    _check_samples(points, given, len(names))
    return _make_cost(class_centroids(points, given, names), "of centroids")


def _make_cost(points: np.ndarray, name: str) -> Tensor:
    cost = from_points(points)
    check_cost(cost, name)
    return torch.from_numpy(cost).float()


def _to_array(values: Tensor | ArrayLike) -> np.ndarray:
    if isinstance(values, Tensor):
        values = values.detach().cpu()
        values = values.float() if values.dtype == torch.bfloat16 else values  # numpy has no such format
    return np.asarray(values)


def _check_samples(points: np.ndarray, labels: np.ndarray, classes: int) -> None:
    if labels.ndim != 1 or labels.dtype.kind not in "iu" or points.ndim < 2 or len(points) != len(labels):
        raise WarlabError(
            "centroid_cost needs features (N, ...) and integer labels (N,), "
            f"not shapes {points.shape} and {labels.shape} with labels of type {labels.dtype}."
        )
    if classes < 2 or (labels < 0).any() or (labels >= classes).any():
        raise WarlabError(
            f"The labels must lie in 0 to {classes - 1} for {classes} classes, at least two; remove others, such as "
            "an ignore_index of -100, first."
        )
    if points.dtype.kind not in "fiu" or not np.isfinite(points).all():
        raise WarlabError("The features must be finite numbers; they have NaN, infinity or non-numeric values.")
