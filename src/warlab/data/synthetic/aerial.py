"""Procedural aerial scenes: a small town with streets, houses, gardens, trees and cars, seen from straight above.

The stand-in for ISPRS Vaihingen shows them. A pixel is about 0.4 m wide, so that a tile of 250 pixels has some streets
and a dozen houses. A scene has labels, heights above the ground and reflectances (near infrared, red, green);
`warlab.data.synthetic.photograph` makes an image of it.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import ndimage

METRES = 0.4  # width of a pixel
IMPERVIOUS, BUILDING, LOW_VEGETATION, TREE, CAR, CLUTTER = range(6)
STREET = 6.5  # half the width of a street, pixels

# near infrared, red, green in 0..255; vegetation is bright in the infrared, the first channel of the image
ASPHALT, PAVING, CONCRETE = (94, 100, 106), (137, 131, 122), (163, 163, 160)
LAWN, DRY, SOIL = (172, 88, 90), (156, 122, 110), (138, 124, 104)
CROWNS = ((150, 56, 66), (168, 70, 72), (118, 48, 58), (176, 104, 82))
ROOFS = ((132, 120, 84), (122, 108, 80), (74, 74, 80), (104, 104, 108), (150, 136, 98))
FLAT_ROOFS = ((158, 156, 152), (120, 122, 126), (138, 126, 112))
CARS = ((226, 228, 230), (42, 44, 50), (152, 154, 160), (122, 126, 84), (64, 62, 88), (96, 98, 104))
POOL, COURT, CONTAINER = (28, 66, 112), (156, 118, 84), (70, 84, 128)


@dataclass
class Scene:
    """Labels (H, W), heights above the ground in metres (H, W), reflectances (3, H, W); all are drawn into in place."""

    labels: np.ndarray
    height: np.ndarray
    colour: np.ndarray
    s: np.ndarray  # coordinates along and across the streets
    t: np.ndarray
    rng: np.random.Generator

    def paint(self, where: np.ndarray, label: int, colour: npt.ArrayLike, height: np.ndarray | float = 0.0) -> None:
        self.labels[where] = label
        self.height[where] = height[where] if isinstance(height, np.ndarray) else height
        self.colour[:, where] = np.array(colour, float)[:, None]

    def shade(self, where: np.ndarray, factor: np.ndarray | float) -> None:
        self.colour[:, where] *= factor[where] if isinstance(factor, np.ndarray) else factor

    def around(self, s: float, t: float, reach: float) -> "Scene":
        """Return the part of the scene near (s, t), with views of the same arrays; empty outside the tile."""
        near = (np.abs(self.s - s) < reach) & (np.abs(self.t - t) < reach)
        rows, columns = np.flatnonzero(near.any(1)), np.flatnonzero(near.any(0))
        if not len(rows):
            return self.part(np.s_[:0, :0])
        return self.part(np.s_[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1])

    def part(self, where: tuple[slice, slice]) -> "Scene":
        colour = self.colour[:, where[0], where[1]]
        return Scene(self.labels[where], self.height[where], colour, self.s[where], self.t[where], self.rng)

    def box(self, s: float, t: float, turn: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
        """Return coordinates along the sides of a box at (s, t) that is rotated by `turn` relative to the streets."""
        ds, dt = self.s - s, self.t - t
        return ds * np.cos(turn) + dt * np.sin(turn), dt * np.cos(turn) - ds * np.sin(turn)


def town(height: int, width: int, rng: np.random.Generator) -> Scene:
    """Draw a scene; `rng` decides everything about it."""
    scene = _ground(height, width, rng)
    across, along = _axes(scene.t, 88, rng), _axes(scene.s, 128, rng)
    _gardens(scene)
    _streets(scene, across, along)
    for t in across:
        for side in (-1, 1):
            _row_of_houses(scene, t, side)
    for _ in range(rng.integers(0, 3)):
        _clutter(scene)
    _trees(scene)
    _traffic(scene, across)
    return scene


def smooth(shape: tuple[int, int], scale: float, rng: np.random.Generator) -> np.ndarray:
    """Return a smooth random field with standard deviation 1, whose features are about `scale` pixels wide."""
    if scale < 3:
        field = ndimage.gaussian_filter(rng.standard_normal(shape), scale, mode="wrap")
    else:  # drawn on a coarse grid and interpolated: a wide filter would take most of the time of a scene
        rows, columns = (_spline(side, scale) for side in shape)
        field = rows @ rng.standard_normal((rows.shape[1], columns.shape[1])) @ columns.T
    return field / max(field.std(), 1e-9)


def _spline(side: int, scale: float) -> np.ndarray:
    """Cubic B-splines, one every 2 · `scale` pixels: (side, number of splines)"""
    knots = int(side / (2 * scale)) + 4
    far = np.abs(np.linspace(1, knots - 2, side)[:, None] - np.arange(knots))
    return np.where(far < 1, 2 / 3 - far**2 + far**3 / 2, np.clip(2 - far, 0, None) ** 3 / 6)


def _ground(height: int, width: int, rng: np.random.Generator) -> Scene:
    y, x = np.mgrid[:height, :width].astype(float)
    turn = rng.uniform(0, np.pi)
    bend = 7 * smooth((height, width), 60, rng)
    s = x * np.cos(turn) + y * np.sin(turn) + 5 * smooth((height, width), 60, rng)
    t = y * np.cos(turn) - x * np.sin(turn) + bend
    labels = np.full((height, width), LOW_VEGETATION, np.uint8)
    colour = np.repeat(np.array(LAWN, float)[:, None, None], height, 1).repeat(width, 2)
    return Scene(labels, np.zeros((height, width)), colour, s, t, rng)


def _axes(coordinate: np.ndarray, spacing: float, rng: np.random.Generator) -> list[float]:
    """Return the coordinates of the streets: about `spacing` apart, with a random start."""
    places = [coordinate.min() + rng.uniform(0, spacing)]
    while places[-1] < coordinate.max():
        places.append(places[-1] + spacing * rng.uniform(0.85, 1.2))
    return places


def _gardens(scene: Scene) -> None:
    """Lawns: every parcel has its own tone; dry grass and bare soil look similar to paving."""
    parcel = (np.floor(scene.s / 41) * 31 + np.floor(scene.t / 44) * 17).astype(int)
    tones = scene.rng.uniform(0.86, 1.14, 997)[parcel % 997]
    dryness = scene.rng.uniform(-0.5, 1.0, 997)[parcel % 997] + 0.5 * smooth(scene.labels.shape, 6, scene.rng)
    dry = np.clip(dryness - 0.15, 0, 1)[None]
    grass = (1 - dry) * np.array(LAWN)[:, None, None] + dry * np.array(DRY)[:, None, None]
    bare = (smooth(scene.labels.shape, 5, scene.rng) > 1.75)[None]
    scene.colour = np.where(bare, np.array(SOIL, float)[:, None, None], grass) * tones
    scene.colour *= 1 + 0.07 * smooth(scene.labels.shape, 1.2, scene.rng)
    hedge = (np.abs(scene.s % 41 - 20) > 19.2) & (scene.rng.random(997)[parcel % 997] < 0.45)
    scene.paint(hedge, LOW_VEGETATION, CROWNS[0], 1.3)


def _streets(scene: Scene, across: list[float], along: list[float]) -> None:
    off = np.minimum(
        np.min([np.abs(scene.t - place) for place in across], 0),
        np.min([np.abs(scene.s - place) * 1.25 for place in along], 0),
    )
    tone = scene.rng.uniform(0.85, 1.15)
    scene.paint(off < STREET + 2.2, IMPERVIOUS, PAVING)
    scene.paint(off < STREET, IMPERVIOUS, ASPHALT)
    worn = 1 + 0.06 * smooth(scene.labels.shape, 3, scene.rng)
    scene.shade(off < STREET + 2.2, tone * worn)


def _row_of_houses(scene: Scene, street: float, side: int) -> None:
    rng = scene.rng
    place = scene.s.min() + rng.uniform(0, 20)
    while place < scene.s.max():
        width, depth = rng.uniform(19, 30), rng.uniform(15, 21)
        if rng.random() < 0.12:
            width, depth = rng.uniform(40, 56), rng.uniform(20, 26)
        at = street + side * (STREET + rng.uniform(7, 12) + depth / 2)
        kind = rng.random()
        if kind < 0.80:
            _house(scene, place, at, width, depth, rng.uniform(-0.08, 0.08), street)
        elif kind < 0.90:
            _parking(scene, place, at, street)
        place += width + rng.uniform(9, 18)


def _free(scene: Scene, where: np.ndarray) -> bool:
    """Return whether something may be built there: only on grass, and not mostly outside the tile."""
    return where.sum() > 30 and bool((scene.labels[where] == LOW_VEGETATION).all())


def _house(scene: Scene, s: float, t: float, width: float, depth: float, turn: float, street: float) -> None:
    rng, scene = scene.rng, scene.around(s, t, width + depth)
    u, v = scene.box(s, t, turn)
    outline = (np.abs(u) < width / 2) & (np.abs(v) < depth / 2)
    if rng.random() < 0.35:  # an annexe makes an L
        outline |= (np.abs(u - width / 4) < width / 5) & (np.abs(v + np.sign(t - street) * -depth / 2) < depth / 2.2)
    if not _free(scene, outline):
        return
    _driveway(scene, s + rng.choice([-1, 1]) * width / 3, t, street)
    if rng.random() < 0.5:
        terrace = (np.abs(u) < width / 4) & (np.abs(v - np.sign(t - street) * (depth / 2 + 2)) < 3.5)
        scene.paint(terrace & (scene.labels == LOW_VEGETATION), IMPERVIOUS, PAVING)
    eaves = rng.uniform(3.5, 7.0)
    if width > 38 or rng.random() < 0.2:
        _flat_roof(scene, outline, u, eaves)
    else:
        _gabled_roof(scene, outline, v, depth, eaves)


def _gabled_roof(scene: Scene, outline: np.ndarray, v: np.ndarray, depth: float, eaves: float) -> None:
    rise = scene.rng.uniform(1.5, 3.5)
    roof = eaves + rise * (1 - np.clip(np.abs(v) / (depth / 2), 0, 1))
    scene.paint(outline, BUILDING, scene.rng.choice(ROOFS), roof)
    lit = np.where(v < 0, 1.16, 0.80) * (1 + 0.04 * np.sin(v * 2.5))  # one side of the ridge is lit; rows of tiles
    scene.shade(outline, lit * (1 + 0.05 * smooth(v.shape, 1.5, scene.rng)))


def _flat_roof(scene: Scene, outline: np.ndarray, u: np.ndarray, eaves: float) -> None:
    scene.paint(outline, BUILDING, scene.rng.choice(FLAT_ROOFS), eaves + 1.0)
    inner = ndimage.binary_erosion(outline, iterations=2)
    scene.shade(outline & ~inner, 1.18)
    scene.shade(outline, 1 + 0.05 * smooth(u.shape, 4, scene.rng))
    if scene.rng.random() < 0.3:  # a green roof
        scene.paint(inner, BUILDING, DRY, eaves + 1.0)
        scene.shade(inner, 1 + 0.1 * smooth(u.shape, 2, scene.rng))


def _driveway(scene: Scene, s: float, t: float, street: float) -> None:
    low, high = sorted((t, street))
    strip = (np.abs(scene.s - s) < 2.9) & (scene.t > low) & (scene.t < high) & (scene.labels == LOW_VEGETATION)
    scene.paint(strip, IMPERVIOUS, PAVING if scene.rng.random() < 0.6 else CONCRETE)
    if scene.rng.random() < 0.55:
        _car(scene, s, street + np.sign(t - street) * (STREET + 8), np.pi / 2)


def _parking(scene: Scene, s: float, t: float, street: float) -> None:
    scene = scene.around(s, t, 40)
    u, v = scene.box(s, t)
    lot = (np.abs(u) < 17) & (np.abs(v) < 12)
    if not _free(scene, lot):
        return
    _driveway(scene, s, t, street)
    scene.paint(lot, IMPERVIOUS, ASPHALT)
    scene.shade(lot, scene.rng.uniform(0.95, 1.25))
    for place in np.arange(s - 14, s + 15, 5.6):
        for row in (-6.0, 6.0):
            if scene.rng.random() < 0.5:
                _car(scene, place, t + row, np.pi / 2)


def _clutter(scene: Scene) -> None:
    """Clutter: a pool, a tennis court or a container."""
    size = scene.labels.shape
    at = scene.rng.integers(0, size[0]), scene.rng.integers(0, size[1])
    u, v = scene.box(scene.s[at], scene.t[at])
    colour, half, height = [(POOL, (7, 4), 0.0), (COURT, (16, 9), 0.0), (CONTAINER, (6, 3), 2.4)][scene.rng.integers(3)]
    where = (np.abs(u) < half[0]) & (np.abs(v) < half[1])
    if _free(scene, where):
        scene.paint(where, CLUTTER, colour, height)


def _trees(scene: Scene) -> None:
    rng = scene.rng
    rows, columns = scene.labels.shape
    groves = smooth((rows, columns), 22, rng)
    for _ in range(round(rows * columns / 230)):
        y, x = rng.uniform(0, rows), rng.uniform(0, columns)
        here = int(y), int(x)
        ground, thick = scene.labels[here], groves[here] > rng.normal(0.25, 0.5)
        if (ground == LOW_VEGETATION and thick) or (ground == IMPERVIOUS and rng.random() < 0.05):
            _tree(scene, y, x, rng.uniform(3.0, 9.0))


def _tree(scene: Scene, y: float, x: float, radius: float) -> None:
    rng = scene.rng
    top, left = max(0, int(y - 1.5 * radius)), max(0, int(x - 1.5 * radius))
    scene = scene.part(np.s_[top : int(y + 1.5 * radius) + 2, left : int(x + 1.5 * radius) + 2])
    rows, columns = scene.labels.shape
    dy, dx = np.mgrid[top : top + rows, left : left + columns].astype(float)
    dy, dx = dy - y, dx - x
    angle = np.arctan2(dy, dx)
    edge = radius * (1 + 0.12 * np.sin(3 * angle + rng.uniform(0, 6)) + 0.09 * np.sin(7 * angle + rng.uniform(0, 6)))
    share = np.hypot(dy, dx) / edge
    crown = (share < 1) & (scene.labels != BUILDING)
    leaves = 1 + 0.16 * smooth((rows, columns), 0.9, rng) + 0.28 * (-dx - dy) / (2 * radius)  # the sunny side is bright
    shape = rng.uniform(1.0, 1.5) * radius * METRES * 2 * np.sqrt(np.clip(1 - 0.85 * share**2, 0, 1))
    scene.paint(crown, TREE, rng.choice(CROWNS), shape)
    scene.shade(crown, leaves * rng.uniform(0.85, 1.15))


def _traffic(scene: Scene, across: list[float]) -> None:
    rng = scene.rng
    for street in across:
        for lane in (-0.66, 0.66):
            place = scene.s.min() + rng.uniform(0, 40)
            while place < scene.s.max():
                _car(scene, place, street + lane * STREET, rng.normal(0, 0.04))
                place += rng.uniform(12, 16) if rng.random() < 0.4 else rng.uniform(30, 110)


def _car(scene: Scene, s: float, t: float, turn: float) -> None:
    scene = scene.around(s, t, 9)
    u, v = scene.box(s, t, turn)
    length, width = scene.rng.uniform(4.6, 5.6), scene.rng.uniform(2.1, 2.5)  # half of each
    body = (np.abs(u) / length) ** 4 + (np.abs(v) / width) ** 4 < 1
    if body.sum() < 20 or not (scene.labels[body] == IMPERVIOUS).all():
        return
    scene.paint(body, CAR, scene.rng.choice(CARS), 1.4)
    scene.shade(body & (np.abs(np.abs(u - 0.4) - 1.9) < 0.7), 0.45)  # windscreen and rear window
