"""The audit inside the workflow: what the loop records, and the lists, sheets, table and command made from it."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from tests.conftest import ROOT
from tests.helpers import reports
from tests.helpers.runs import NAMES, method_ids, resolved, weights, write_files
from tests.helpers.tiles import arrays, tile_run, write_tile_files
from warlab.artefacts.run_config import RunConfig
from warlab.audit import LabelAudit, auroc
from warlab.audit.audited_run import COLUMNS, AuditedRun, read_suspects
from warlab.audit.record import Means
from warlab.audit.scoring import scores
from warlab.cli import main
from warlab.common.files import read_arrays, read_json, write_arrays, write_json, write_text
from warlab.data.formats.flat_tiles import objects, unflat
from warlab.engine.build import RunFiles
from warlab.engine.run import train_run
from warlab.engine.train import Recorder
from warlab.errors import WarlabError
from warlab.methods.base import LOGITS
from warlab.reporting.figures.base import Inputs, make
from warlab.reporting.images.contact_sheet import SIDE, Suspect, draw_sheet, write_sheet
from warlab.reporting.page.context import AuditSection, Context
from warlab.reporting.page.report_page import data_uri, render
from warlab.reporting.tables.audit_table import (
    audit_markdown,
    audit_rows,
    audit_table,
    legend,
    read_audit,
    run_quality,
)


def trained(folder: Path, run: dict, files: RunFiles) -> Means:
    train_run(RunConfig.from_dict(run), {}, files, folder, 1)
    return Means(**read_arrays(folder / "audit.npz"))


# ---- the loop


@pytest.mark.parametrize("method", method_ids())
def test_the_logits_of_every_method_are_recorded_in_every_step(method: str, tmp_path: Path) -> None:
    files = write_files(tmp_path, noise="sym-40")
    found = trained(tmp_path / "run", resolved(method, epochs=1), files)
    assert set(found.seen) == {len(weights(tmp_path / "run"))}
    np.testing.assert_array_equal(found.labels, read_arrays(files.noise)["labels"])
    np.testing.assert_allclose(found.probabilities.sum(1), 1, rtol=1e-4)
    assert np.isfinite(found.margin).all() and np.isfinite(found.loss).all()


@pytest.mark.parametrize("method, more", [("war_w2v", {}), ("war_w2v", {"dropout": "shared"}), ("ar", {}), ("sl", {})])
def test_what_is_recorded_is_the_clean_pass_of_the_batch(method: str, more: dict, tmp_path: Path) -> None:
    """In a training of one step it is the same forward for all methods, whatever else they compute."""
    files = write_files(tmp_path, n=32)
    settings = {**more, "warmup": 0} if method != "sl" else {}
    one = trained(tmp_path / "a", resolved("cce", epochs=1, batch_size=32), files)
    two = trained(tmp_path / "b", resolved(method, epochs=1, batch_size=32, **settings), files)
    for name, values in vars(one).items():
        np.testing.assert_array_equal(values, vars(two)[name])


@pytest.mark.parametrize("method", ["war_w2v", "coteaching", "iterative"])
def test_recording_changes_not_one_bit_of_the_training(method: str, tmp_path: Path, monkeypatch) -> None:
    files, run = write_files(tmp_path), resolved(method, epochs=2)
    trained(tmp_path / "heard", run, files)
    monkeypatch.setattr(Recorder, "start_step", lambda self: None)
    monkeypatch.setattr(Recorder, "end_step", lambda self, batch, log: log.pop(LOGITS, None))
    unheard = trained(tmp_path / "unheard", run, files)
    assert set(unheard.seen) == {0}
    for a, b in zip(weights(tmp_path / "heard"), weights(tmp_path / "unheard"), strict=True):
        assert all((a[name] == b[name]).all() for name in a)


def test_flipped_labels_are_found(tmp_path: Path) -> None:
    files = write_files(tmp_path, n=400, noise="sym-20")
    found = trained(tmp_path / "run", resolved("cce", epochs=4), files)
    wrong = read_arrays(files.noise)["labels"] != read_arrays(files.data)["train_y"]
    quality = {name: auroc(values, wrong) for name, values in scores(found).items()}
    assert min(quality.values()) > 0.9, quality


def test_objects_of_a_tile_are_numbered_once_and_do_not_cross_tiles() -> None:
    content = arrays()
    numbers = objects(content.train_y, content.train_sizes)
    assert set(numbers) == set(range(numbers.max() + 1))
    first, second = unflat(numbers, content.train_sizes)
    assert not set(first.reshape(-1)) & set(second.reshape(-1))
    for number in range(numbers.max() + 1):
        assert len(set(content.train_y[numbers == number])) == 1
    by_hand = objects(np.array([0, 0, 1, 1, 0, 0, 0, 0, 0], np.uint8), np.array([[3, 3]]))
    assert by_hand.tolist() == [0, 0, 1, 2, 0, 0, 0, 0, 0]
    corner = objects(np.array([0, 1, 1, 0], np.uint8), np.array([[2, 2]]))
    assert corner.tolist() == [0, 1, 1, 0]  # pixels that touch at a corner belong together


# ---- the files of a run


def audited(folder: Path, noise: str = "sym-40", **more: object) -> dict[str, str]:
    """Files of a run whose network was sure of the true class of every image, without a training."""
    files = write_files(folder, n=40, noise=noise)
    truth, labels = read_arrays(files.data)["train_y"], read_arrays(files.noise)["labels"]
    audit = LabelAudit(40, 4)
    audit.update(5.0 * np.eye(4)[truth] + np.linspace(0, 1, 160).reshape(40, 4), labels, np.arange(40))
    write_arrays(folder / "audit.npz", **vars(audit.means()))
    meta = files.data.with_suffix(".json")
    write_json(meta, read_json(meta) | {"source": "spots"} | more)
    return {"audit": str(folder / "audit.npz"), "data": str(files.data), "noise": str(files.noise)}


def test_the_list_names_files_labels_and_what_is_known(tmp_path: Path) -> None:
    names = [f"class/{k}.png" for k in range(40)]
    run = AuditedRun.read(audited(tmp_path, train_files=names))
    write_text(tmp_path / "suspects.csv", run.csv(run.suspects()))
    rows = read_suspects(tmp_path / "suspects.csv")
    assert list(rows[0]) == list(COLUMNS)
    truth, labels = run.data.arrays["train_y"], run.noise.labels
    assert {int(row["number"]) for row in rows} == set(np.flatnonzero(truth != labels))
    for row in rows:
        k = int(row["number"])
        assert (row["sample"], row["wrong"]) == (names[k], "yes")
        assert (row["label"], row["suggested"]) == (NAMES[labels[k]], NAMES[truth[k]])
    assert [float(row["combined"]) for row in rows] == sorted((float(row["combined"]) for row in rows), reverse=True)
    np.testing.assert_array_equal(run.picture(3), run.data.arrays["train_x"][3])


def test_where_nobody_knows_the_truth_nothing_is_said_of_it(tmp_path: Path) -> None:
    files = audited(tmp_path, noise="clean")
    run = AuditedRun.read(files)
    assert run.wrong is None and run.csv(run.suspects()).splitlines()[0].endswith(",wrong")
    assert run_quality(files, {}) == []
    assert run.name(7) == "7"  # no file is known, so it is the number


def test_an_audit_of_other_data_is_refused(tmp_path: Path) -> None:
    files = audited(tmp_path)
    write_arrays(tmp_path / "audit.npz", **vars(LabelAudit(3, 4).means()))
    with pytest.raises(WarlabError, match="does not belong to"):
        AuditedRun.read(files)


def test_replaced_images_are_wrong_and_shown_as_they_were_trained_on(tmp_path: Path) -> None:
    files = audited(tmp_path, noise="clean")
    noise = read_arrays(Path(files["noise"])) | {"replaced": np.array([4, 9]), "by": np.array([1, 0])}
    write_arrays(Path(files["noise"]), **noise)
    other = np.random.default_rng(0).integers(0, 256, (2, 1, 12, 12), dtype=np.uint8)
    write_arrays(tmp_path / "other.npz", train_x=other)
    run = AuditedRun.read({**files, "images": str(tmp_path / "other.npz")})
    assert run.wrong is not None and np.flatnonzero(run.wrong).tolist() == [4, 9]
    np.testing.assert_array_equal(run.picture(9), other[0])
    np.testing.assert_array_equal(run.picture(5), run.data.arrays["train_x"][5])


def test_of_tiles_whole_objects_are_judged(tmp_path: Path) -> None:
    files = write_tile_files(tmp_path)
    means = trained(tmp_path / "run", tile_run("cce", epochs=1), files)
    given = {"audit": str(tmp_path / "run" / "audit.npz"), "data": str(files.data), "noise": str(files.noise)}
    run = AuditedRun.read(given)
    labels, truth, numbers = run.noise.labels, run.data.arrays["train_y"], run.object_of
    assert len(means.labels) == run.units and means.seen.sum() == 3 * 2 * 32 * 32
    for number in np.flatnonzero(means.seen):
        pixels = numbers == number
        assert set(labels[pixels]) == {means.labels[number]}
        assert run.wrong is not None and run.wrong[number] == ((labels != truth)[pixels].mean() > 0.5)
    biggest = int(np.bincount(numbers).argmax())
    tile, rows, columns = run._place(biggest)
    assert (unflat(numbers, run.data.arrays["train_sizes"])[tile][rows, columns] == biggest).all()
    middle = f"row {int(rows.mean())}, column {int(columns.mean())}"
    assert run.name(biggest) == f"tile {run.data.about.train_tiles[tile]}, {middle}, {len(rows)} pixels"
    assert run.picture(biggest).shape[0] == 5
    rows_of_table = run_quality(given, {"method": "cce", "seed": 0})
    assert {row["metric"] for row in rows_of_table} == {"auroc", "average_precision", "precision", "corrected"}


# ---- sheet, table, figure, page, command


def test_the_sheet_has_24_pictures_and_says_what_is_no_real_data(tmp_path: Path) -> None:
    picture = np.zeros((3, 8, 8), np.uint8)
    many = [Suspect(picture, f"{k}.png", "T-shirt/top", "Dress", known=k % 2 == 0) for k in range(30)]
    six, most = draw_sheet(many[:6], "six"), draw_sheet(many, "many", "Stand-in data")
    assert draw_sheet(many[:24], "many", "Stand-in data").tobytes() == most.tobytes()
    assert most.size[0] == six.size[0] and most.size[1] - six.size[1] == 3 * (SIDE + 80)
    red = [(np.asarray(sheet) == (0xB0, 0, 0x20)).all(2).any() for sheet in (six, most)]
    assert red == [False, True] and draw_sheet([], "nothing").size[0] == six.size[0]
    odd = [Suspect(np.zeros((1, 40, 9), np.uint8), "y" * 99, "x" * 99, "→")]
    odd.append(Suspect(np.zeros((5, 300, 200), np.uint8), "1", "a", "b"))
    write_sheet(tmp_path / "sheet.png", odd, "odd shapes")
    assert Image.open(tmp_path / "sheet.png").size == six.size


def quality_rows(seeds: int = 3, data: str = "real") -> list[dict]:
    cell = {"dataset": "fashion_mnist", "noise": "asym-40", "net": "cnn9", "method": "war_w2v"}
    return [
        {**cell, "seed": s, "score": score, "metric": metric, "value": 0.8 + 0.01 * s, "errors": 0.2, "data": data}
        for s in range(seeds)
        for score in ("combined", "margin", "loss", "confident", "transport")
        for metric in ("auroc", "average_precision", "precision")
    ]


def test_the_table_has_the_mean_over_the_seeds_and_its_interval(tmp_path: Path) -> None:
    table = audit_table(quality_rows())
    assert table["mean"].tolist() == pytest.approx([0.81] * 15) and set(table["seeds"]) == {3}
    assert table["high"][0] - table["mean"][0] == pytest.approx(4.302653 * 0.01 / np.sqrt(3), rel=1e-5)
    assert audit_table(quality_rows(1))[["low", "high"]].isna().all(axis=None)
    table.to_csv(tmp_path / "audit.csv", index=False)
    pd.testing.assert_frame_equal(read_audit(tmp_path / "audit.csv"), table, check_dtype=False)
    rows = audit_rows(table, reports.LABELS)
    assert len(rows) == 3 and rows[0]["combined"] == "0.810 ± 0.025" and rows[0]["errors"] == "20.0 %"
    other = audit_table([*quality_rows(), *({**row, "net": "mlp"} for row in quality_rows())])
    noise = rows[0]["noise"]
    assert {row["noise"] for row in audit_rows(other, reports.LABELS)} == {f"{noise}, cnn9", f"{noise}, mlp"}
    text = audit_markdown(audit_table(quality_rows(1, "stand-in")), reports.LABELS)
    assert "0.800 |" in text and "†" in text and "± 0" not in text and "stand-in" in text
    assert "95 %" in audit_markdown(audit_table([]), reports.LABELS)
    named = {"method": {"war_w2v": "Co-Teaching+"}}  # a printed name, not an id with a changed setting
    assert "| Co-Teaching+ |" in audit_markdown(table, named)


def test_only_the_panels_of_stand_ins_are_marked_in_the_figure() -> None:
    real = quality_rows()
    mixed = audit_table([*real, *({**row, "dataset": "tiles", "data": "stand-in"} for row in real)])
    figure = reports.draw("audit", Inputs(audit=mixed, labels=reports.LABELS))
    marked = [ax.get_title() for ax in figure.axes if "stand-in data" in ax.get_title()]
    assert len(figure.axes) == 2 and len(marked) == 1 and marked[0].startswith("tiles")
    assert figure.get_suptitle() == ""


def test_the_figure_shows_every_method_or_says_that_nothing_is_known() -> None:
    figure, caption = make("audit", Inputs(audit=audit_table(quality_rows()), labels=reports.LABELS))
    assert len(figure.axes) == 1 and "logit margin" in reports.texts(figure) and "stand-in" not in caption
    figure, caption = make("audit", Inputs(audit=audit_table(quality_rows(1, "stand-in")), labels=reports.LABELS))
    assert "tand-in data" in caption and "stand-in data" in reports.texts(figure)
    empty = Inputs(audit=audit_table([]))
    note, caption = make("audit", empty)
    assert "No run" in reports.texts(note) and caption.startswith("No run")


def test_the_report_has_the_sheet_and_the_table(tmp_path: Path) -> None:
    write_sheet(tmp_path / "sheet.png", [], "nothing")
    table = audit_table(quality_rows())
    section = AuditSection(tmp_path / "sheet.png", audit_rows(table, reports.LABELS), legend(table))
    text = render(Context(scale="x", audit=section))
    assert 'id="audit"' in text and data_uri(tmp_path / "sheet.png") in text and "0.810 ± 0.025" in text
    assert 'id="audit"' not in render(Context(scale="x"))


@pytest.mark.parametrize(
    "order", [("--root", "{root}", "audit", "--configfile"), ("audit", "--root", "{root}", "--configfile")]
)
def test_the_command_says_where_the_lists_are_and_shows_ten(order, tmp_path: Path, capsys) -> None:
    settings = tmp_path / "my.yaml"
    settings.write_text(f"scale: smoke\nresults_root: {tmp_path}\n")
    command = [part.format(root=ROOT) for part in order] + [str(settings)]
    assert main.main(command) == 1 and "snakemake --cores all -- audit" in capsys.readouterr().out
    run = AuditedRun.read(audited(tmp_path))
    folder = tmp_path / "smoke" / "audit" / "fashion_mnist" / "asym-40" / "cnn9" / "war_w2v" / "seed0"
    write_text(folder / "suspects.csv", run.csv(run.suspects()))
    assert main.main([*command, "--scale", "smoke"]) == 0
    said = capsys.readouterr().out
    assert str(folder / "suspects.csv") in said and "more runs have no list yet" in said
    table = said[said.index("The first of") :].splitlines()[1:]
    assert len(table) == 11 and table[0].split() == ["sample", "label", "suggested", "combined", "confident", "wrong"]
