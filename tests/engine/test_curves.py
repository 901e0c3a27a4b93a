"""`log: tensorboard`: the curves of a run are those of its metrics, each epoch once, and change no number."""

import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from tests.helpers.environments import installed_apart
from tests.helpers.runs import assert_same, resolved, start, wait_for, write_files
from warlab.common.curves import FOLDER, LOG, curves_of, use_log
from warlab.errors import WarlabError

PACKAGES = ("tensorboard==2.21.0", "protobuf==7.36.2", "absl-py==2.5.1")  # the part of it that reads and writes curves


@pytest.fixture(scope="module")
def tensorboard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with installed_apart(tmp_path_factory.mktemp("tensorboard"), *PACKAGES) as folder:
        yield folder


def test_a_killed_run_has_every_epoch_once(tensorboard: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run, files = resolved("war_w2v", epochs=6), write_files(tmp_path)
    quiet = start(run, files, tmp_path / "quiet")
    assert quiet.wait(600) == 0 and not (tmp_path / "quiet" / FOLDER).exists()
    out = tmp_path / "logged"
    monkeypatch.setenv(LOG, "tensorboard")
    monkeypatch.setenv("PYTHONPATH", str(tensorboard))
    monkeypatch.setenv("WARLAB_CHECKPOINT_SECONDS", "0")
    first = start(run, files, out)
    wait_for(out / "log.txt", "epoch 2/6")
    first.send_signal(signal.SIGKILL)
    first.wait()
    assert len(list((out / FOLDER).iterdir())) == 1
    second = start(run, files, out)
    assert second.wait(600) == 0, second.stderr and second.stderr.read()
    assert "resumed" in (out / "log.txt").read_text()

    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(out / FOLDER)).Reload()
    metrics = pd.read_csv(out / "metrics.csv").set_index("epoch")
    assert set(events.Tags()["scalars"]) == set(metrics)
    for name in metrics:
        points = pd.Series({point.step: point.value for point in events.Scalars(name)}, dtype=float)
        assert len(events.Scalars(name)) == len(points)
        pd.testing.assert_series_equal(points, metrics[name].dropna().astype(float), check_names=False, rtol=1e-6)
    assert_same(tmp_path / "quiet", out)


def test_nothing_is_imported_where_it_is_off_and_a_missing_package_is_one_sentence(tmp_path: Path) -> None:
    assert curves_of(tmp_path) is None and "torch.utils.tensorboard" not in sys.modules
    with pytest.raises(WarlabError, match=r"log: notinstalled needs its package: pip install .*\[notinstalled\]"):
        use_log("notinstalled")
