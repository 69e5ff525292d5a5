# SPDX-License-Identifier: Apache-2.0
"""Lightning's Trainer: it saves and restores a loader by itself, in the middle of an epoch."""

import json
import pathlib
import subprocess
import sys
import warnings

import pytest
import sets

torch = pytest.importorskip("torch")
try:
    sets.import_torchvision()  # torchmetrics imports it, and fails where it fails
except ImportError:
    pass
lightning = pytest.importorskip("lightning")
import millrace as mr  # noqa: E402

torch.set_num_threads(1)  # more wait for each other on a busy machine
COUNT = 48  # 12 batches
LENGTH = 12


class Model(lightning.LightningModule):
    def __init__(self, estimate=False):
        super().__init__()
        self.line = torch.nn.Linear(3 * 12 * 12, 3)
        self.estimate = estimate
        self.seen = []  # (epoch, ordinals)

    def training_step(self, batch, number):
        images, labels = batch
        self.seen.append((self.current_epoch, batch.epoch, batch.ordinals.tolist()))
        return torch.nn.functional.cross_entropy(self.line(images.flatten(1)), labels)

    def configure_optimizers(self):
        if self.estimate:
            assert self.trainer.estimated_stepping_batches > 0  # begins the loader
        return torch.optim.SGD(self.parameters(), lr=0.01)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return sets.folder(tmp_path_factory.mktemp("set"), COUNT)


def loader_of(path, **options):
    return mr.torch.Loader(
        path, "crop(12) flip normalize(half)", **{"batch_size": 4, "shuffle": True, "threads": 1, **options}
    )


def trainer_of(tmp_path, callbacks=(), **options):
    return lightning.Trainer(
        accelerator="cpu", logger=False, enable_progress_bar=False, enable_model_summary=False,
        default_root_dir=tmp_path, callbacks=list(callbacks),
        **{"devices": 1, "max_epochs": 3, "enable_checkpointing": False, **options},
    )  # fmt: skip


class Stop(lightning.Callback):
    """Saves after so many batches of an epoch, as a job that is about to be killed does."""

    def __init__(self, epoch, batches, file):
        self.epoch, self.batches, self.file = epoch, batches, file

    def on_train_batch_end(self, trainer, module, outputs, batch, batch_idx):
        if trainer.current_epoch == self.epoch and batch_idx + 1 == self.batches:
            trainer.save_checkpoint(self.file)
            raise KeyboardInterrupt


def fit(path, tmp_path, callbacks=(), estimate=False, checkpoint=None, resume=False, **options):
    model, loader = Model(estimate), loader_of(path)
    if resume:
        callbacks = [*callbacks, mr.torch.Resume(loader)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            trainer_of(tmp_path, callbacks, **options).fit(model, loader, ckpt_path=checkpoint)
        except (KeyboardInterrupt, SystemExit):
            pass
    loader.close()
    return model.seen


def test_every_epoch_is_another_and_whole(path, tmp_path):
    seen = fit(path, tmp_path)
    assert len(seen) == 3 * LENGTH and all(epoch == of for epoch, of, _ in seen)
    epochs = [sum((ordinals for epoch, _, ordinals in seen if epoch == e), []) for e in range(3)]
    assert all(sorted(each) == list(range(COUNT)) for each in epochs)
    assert epochs[0] != epochs[1] != epochs[2]


@pytest.mark.parametrize("epoch, batches", [(0, 5), (1, 1), (1, 7), (2, 11)])
def test_a_restore_in_the_middle_of_an_epoch(path, tmp_path, epoch, batches):
    whole = fit(path, tmp_path)
    file = tmp_path / "middle.ckpt"
    first = fit(path, tmp_path, [Stop(epoch, batches, file)])
    assert len(first) == epoch * LENGTH + batches
    second = fit(path, tmp_path, checkpoint=file)
    assert first + second == whole


@pytest.mark.parametrize("resume", [False, True])
def test_a_restore_at_the_end_of_an_epoch(path, tmp_path, resume):
    whole = fit(path, tmp_path)
    first = fit(path, tmp_path, [keep_last(tmp_path)], enable_checkpointing=True, max_epochs=2, resume=resume)
    second = fit(path, tmp_path, checkpoint=tmp_path / "last.ckpt", resume=resume)
    assert first + second == whole


def keep_last(tmp_path):
    from lightning.pytorch.callbacks import ModelCheckpoint

    return ModelCheckpoint(tmp_path, filename="last", save_top_k=1, enable_version_counter=False)


@pytest.mark.parametrize("epoch, batches", [(0, 5), (1, 7)])
def test_estimated_stepping_batches(path, tmp_path, epoch, batches):
    """Read in configure_optimizers it begins the loader before the restore, and Lightning forgets its state."""
    whole = fit(path, tmp_path, estimate=True)
    file = tmp_path / "middle.ckpt"
    first = fit(path, tmp_path, [Stop(epoch, batches, file)], estimate=True, resume=True)
    second = fit(path, tmp_path, estimate=True, checkpoint=file, resume=True)
    assert first + second == whole


def test_estimated_stepping_batches_without_the_callback(path, tmp_path):
    """What Lightning does of itself: should this fail, it has been mended there, and Resume is needed no more."""
    whole = fit(path, tmp_path, estimate=True)
    file = tmp_path / "middle.ckpt"
    first = fit(path, tmp_path, [Stop(1, 7, file)], estimate=True)
    second = fit(path, tmp_path, estimate=True, checkpoint=file)
    assert first + second != whole


@pytest.mark.parametrize("estimate, resume", [(False, False), (False, True), (True, True)])
def test_limit_train_batches(path, tmp_path, estimate, resume):
    limit = {"limit_train_batches": 5}
    whole = fit(path, tmp_path, **limit)
    assert [epoch for epoch, _, _ in whole] == [of for _, of, _ in whole] == [0] * 5 + [1] * 5 + [2] * 5
    file = tmp_path / "middle.ckpt"
    options = {"estimate": estimate, "resume": resume, **limit}
    first = fit(path, tmp_path, [Stop(1, 2, file)], **options)
    assert first + fit(path, tmp_path, checkpoint=file, **options) == whole
    first = fit(path, tmp_path, [keep_last(tmp_path)], enable_checkpointing=True, max_epochs=2, **options)
    assert first + fit(path, tmp_path, checkpoint=tmp_path / "last.ckpt", **options) == whole


def test_other_batches_after_a_restore(path, tmp_path):
    """Batches of another size go on where the others ended; how many, Lightning decides, by counting."""
    file = tmp_path / "middle.ckpt"
    whole = sum((ordinals for _, _, ordinals in fit(path, tmp_path, max_epochs=1)), [])
    first = fit(path, tmp_path, [Stop(0, 5, file)])
    model, loader = Model(), loader_of(path, batch_size=7)
    with loader, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trainer_of(tmp_path, max_epochs=1).fit(model, loader, ckpt_path=file)
    seen = sum((ordinals for _, _, ordinals in first + model.seen), [])
    assert seen == whole[: len(seen)] and len(seen) > 20


def test_a_loader_for_validation(path, tmp_path):
    """Which is asked for batches in the middle of training, and twice an epoch."""
    seen = []

    class Both(Model):
        def validation_step(self, batch, number):
            seen.append((self.current_epoch, batch.epoch, batch.ordinals.tolist()))

    with loader_of(path) as loader, loader_of(path, shuffle=False) as validation, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trainer_of(tmp_path, max_epochs=2, val_check_interval=0.5).fit(Both(), loader, validation)
    assert len(seen) == 2 + 4 * LENGTH  # a look before training, then four times
    assert sorted(sum((ordinals for _, _, ordinals in seen[2 : 2 + LENGTH]), [])) == list(range(COUNT))
    assert all(epoch == of for epoch, of, _ in seen)


TWO_RANKS = """
import json, os, pathlib, sys
sys.path.insert(0, sys.argv[1])
import torch
import test_lightning as here

path, out = sys.argv[2], pathlib.Path(sys.argv[3])
loader = here.loader_of(path)  # before there are ranks, as programs do
model = here.Model()
trainer = here.trainer_of(out, devices=2, strategy="ddp", max_epochs=2)
trainer.fit(model, loader)
(out / f"rank{trainer.global_rank}").write_text(json.dumps([len(loader), model.seen]))
trainer.strategy.barrier()
os._exit(0)  # gloo's threads at times abort a process that ends, with or without a loader in it
"""


def test_two_ranks_by_lightning(path, tmp_path):
    """Lightning starts the second rank itself, without saying RANK, and joins them later."""
    script = tmp_path / "train.py"
    script.write_text(TWO_RANKS)
    here = str(pathlib.Path(__file__).parent)
    ran = subprocess.run(
        [sys.executable, str(script), here, path, str(tmp_path)], capture_output=True, text=True, timeout=300
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
    ranks = [json.loads((tmp_path / f"rank{rank}").read_text()) for rank in range(2)]
    assert [length for length, _ in ranks] == [LENGTH // 2] * 2
    for epoch in range(2):
        seen = [ordinals for _, rank in ranks for _, of, ordinals in rank if of == epoch]
        assert len(seen) == LENGTH and sorted(sum(seen, [])) == list(range(COUNT))
