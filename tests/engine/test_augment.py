"""Augmentation against every shift written out, and trainings with it."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from tests.helpers.artefacts import described
from tests.helpers.runs import make_trainer, resolved, write_files
from warlab.artefacts.run_config import RunConfig
from warlab.engine.augment import Augmentation
from warlab.engine.build import make_augmentation
from warlab.errors import WarlabError
from warlab.methods.base import Batch, Step

MEAN, STD = (0.5, 0.25), (0.5, 0.125)


def images() -> Batch:
    x = torch.rand(200, 2, 16, 24, generator=torch.Generator().manual_seed(0)) + 10  # nothing is black
    return Batch(x, torch.zeros(200, dtype=torch.long), torch.arange(200))


def shift(image: torch.Tensor, down: int, right: int) -> torch.Tensor:
    """Return the image at another place: row i shows row i + down, and black where there is none."""
    moved = torch.tensor([-1.0, -2.0]).view(2, 1, 1).expand_as(image).clone()
    for i in range(16):
        for j in range(24):
            if 0 <= i + down < 16 and 0 <= j + right < 24:
                moved[:, i, j] = image[:, i + down, j + right]
    return moved


def test_a_view_is_the_image_or_its_mirror_image_shifted_with_black_at_the_border() -> None:
    torch.manual_seed(0)
    before, found = images(), set()
    after = Augmentation("shift_flip", MEAN, STD)(before)
    for image, view in zip(before.x[:12], after.x[:12], strict=True):
        places = [
            (mirror, down, right)
            for mirror in (False, True)
            for down in range(-2, 3)
            for right in range(-3, 4)
            if torch.equal(view, shift(image.flip(2) if mirror else image, down, right))
        ]
        assert len(places) == 1
        found |= set(places)
    assert len(found) > 6 and {mirror for mirror, _, _ in found} == {False, True}
    assert after.view is None and torch.equal(before.y, after.y)


def test_two_views_are_drawn_each_by_itself_and_by_the_seed_alone() -> None:
    drawn = []
    for _ in range(2):
        torch.manual_seed(5)
        drawn.append(Augmentation("two_views", MEAN, STD)(images()))
    assert torch.equal(drawn[0].x, drawn[1].x) and torch.equal(drawn[0].view, drawn[1].view)
    equal = (drawn[0].x == drawn[0].view).flatten(1).all(1).float().mean()
    assert equal < 0.1  # one in 70 by chance
    none = images()
    assert Augmentation("none", MEAN, STD)(none) is none


def test_augmentation_reaches_the_training_and_not_the_estimates(tmp_path: Path) -> None:
    run, files = resolved("gjs"), write_files(tmp_path)
    run["training"]["augmentation"] = "two_views"
    trainer = make_trainer(run, files, tmp_path / "run")
    plain = trainer.data.batch(torch.arange(8))
    augmented = trainer.augment(plain)
    assert augmented.view is not None and not torch.equal(augmented.x, plain.x)
    seen: list[Batch] = []
    trainer.method.loss = lambda models, batch, step: (seen.append(batch), (models[0](batch.x).sum(), {}))[1]  # type: ignore[method-assign,func-returns-value]
    trainer._step(Step(0, 3), torch.arange(8))
    assert seen[0].view is not None and not torch.equal(seen[0].x, plain.x)
    torch.testing.assert_close(next(iter(trainer.data.ordered_batches(8))).x, plain.x)


def test_tiles_are_not_augmented() -> None:
    run = resolved("cce")
    run["training"]["augmentation"] = "shift_flip"
    about = replace(described(["a", "b"]), samples="tiles")
    with pytest.raises(WarlabError, match="has no images to augment"):
        make_augmentation(RunConfig.from_dict(run), about)
