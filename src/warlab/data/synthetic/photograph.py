"""Image and surface model of a procedural scene: shadows, blur, noise, and heights with soft edges."""

import numpy as np
from scipy import ndimage

from warlab.data.synthetic.aerial import METRES, Scene, smooth

_SUN = (0.8, 0.6)  # direction in which shadows fall: rows, columns
_SLOPE = 0.95  # metres that the sun's ray falls per metre
_SHADOW = (0.42, 0.46, 0.54)  # light from the sky is blue: the last channel loses least
_LONGEST = 40  # pixels


def irrg(scene: Scene) -> np.ndarray:
    """uint8 (H, W, 3): near infrared, red and green, as in the owners' tiles."""
    light = 1 - ndimage.gaussian_filter(shadows(scene.height).astype(float), 0.6)
    seen = scene.colour * (light + (1 - light) * np.array(_SHADOW)[:, None, None])
    seen = ndimage.gaussian_filter(seen, (0, 0.6, 0.6))
    gain = scene.rng.uniform(0.88, 1.12) * (1 + 0.03 * smooth(scene.height.shape, 50, scene.rng))
    seen = seen * gain * scene.rng.uniform(0.95, 1.05, (3, 1, 1)) + scene.rng.normal(0, 5, seen.shape)
    return np.moveaxis(seen, 0, 2).clip(0, 255).round().astype(np.uint8)


def shadows(height: np.ndarray) -> np.ndarray:
    """True where something higher hides the sun. Each ray is followed for a number of pixels."""
    dark = np.zeros(height.shape, bool)
    for step in range(1, _LONGEST):
        rows, columns = round(step * _SUN[0]), round(step * _SUN[1])
        falling = np.full(height.shape, -np.inf)
        source = height[: height.shape[0] - rows, : height.shape[1] - columns]
        falling[rows:, columns:] = source - step * METRES * _SLOPE
        dark |= falling > height + 0.2
    return dark


def surface(scene: Scene) -> tuple[np.ndarray, np.ndarray]:
    """DSM in metres above the sea and nDSM in metres above the ground, both float32 (H, W).

    Stereo matching blurs edges and adds noise. The ground that is subtracted for the nDSM is only known to within some
    decimetres.
    """
    shape, rng = scene.height.shape, scene.rng
    y, x = np.mgrid[: shape[0], : shape[1]]
    slope = rng.normal(0, 0.012, 2)
    terrain = rng.uniform(240, 300) + slope[0] * y + slope[1] * x + 0.8 * smooth(shape, 45, rng)
    matched = ndimage.gaussian_filter(scene.height, 1.3) + 0.25 * smooth(shape, 1.0, rng)
    ground_error = 0.35 * smooth(shape, 20, rng)
    return (terrain + matched).astype(np.float32), np.clip(matched + ground_error, 0, None).astype(np.float32)
