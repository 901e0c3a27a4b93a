"""A cost from class centroids of the training images under their NOISY labels.

`features` is resnet18, trained on ImageNet (paper), or efficientnet_lite0, both for images of `size` × `size`; or it is
pixels (paper, Fashion-MNIST).
"""

from warlab.errors import WarlabError
from warlab.ot.costs.base import CostInputs, Made, Origin
from warlab.ot.points import class_centroids, from_points

READS_LABELS = True
FEATURES = ("pixels", "resnet18", "efficientnet_lite0")


def make(inputs: CostInputs, features: str = "pixels", size: int = 224) -> Made:
    if features not in FEATURES:
        raise WarlabError(f"The embed cost knows the features {', '.join(FEATURES)}, not {features!r}.")
    points = inputs.images if features == "pixels" else inputs.vectors
    if points is None or inputs.labels is None:
        raise WarlabError(f"The embed cost needs the {features} of the training images and their noisy labels.")
    centroids = class_centroids(points, inputs.labels, inputs.class_names)
    described = "pixels" if features == "pixels" else f"features of {features} at {size} × {size}"
    return from_points(centroids), Origin(f"centroids of {described} under the noisy labels")
