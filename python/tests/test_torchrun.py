# SPDX-License-Identifier: Apache-2.0
"""Two ranks by torchrun (gloo): disjoint samples, as many batches, a model that learns; and one rank that goes on."""

import json
import pathlib
import subprocess
import sys

import pytest
import sets

torch = pytest.importorskip("torch")
if not torch.distributed.is_available() or not torch.distributed.is_gloo_available():
    pytest.skip("torch has no gloo", allow_module_level=True)

COUNT = 50
SCRIPT = """
import json, os, sys
import torch
import torch.distributed as dist
import millrace as mr

path, out, stop, state = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
loader = mr.torch.Loader(path, "crop(12) flip normalize(half)", batch_size=4, shuffle=True, threads=1)
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
if state != "-":
    loader.load_state_dict(json.load(open(state)))
torch.manual_seed(0)
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(3 * 12 * 12, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
ordinals, batches = [], 0
for batch in loader:
    images, labels = batch
    loss = torch.nn.functional.cross_entropy(model(images.flatten(1)), labels, reduction="sum") / 4
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    ordinals += batch.ordinals.tolist()
    batches += 1
    if batches == stop:
        break
weights = model.module.weight.detach()
same = [torch.zeros_like(weights) for _ in range(world)]
dist.all_gather(same, weights)
assert all(torch.equal(each, weights) for each in same)
assert weights.isfinite().all()
json.dump({"rank": rank, "world": world, "batches": batches, "length": len(loader), "ordinals": ordinals,
           "state": loader.state_dict()}, open(f"{out}.{rank}", "w"))
dist.destroy_process_group()
os._exit(0)  # gloo's threads at times abort a process that ends, with or without a loader in it
"""


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return sets.folder(tmp_path_factory.mktemp("set"), COUNT)


def run(tmp_path, path, ranks, stop=-1, state=None):
    script, out, stated = tmp_path / "train.py", tmp_path / "out", tmp_path / "state.json"
    script.write_text(SCRIPT)
    for old in tmp_path.glob("out.*"):
        old.unlink()
    if state is not None:
        stated.write_text(json.dumps(state))
    words = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}", str(script)]
    words += [path, str(out), str(stop), "-" if state is None else str(stated)]
    ran = subprocess.run(words, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, f"{ran.returncode}: {ran.stdout[-1000:]} {ran.stderr[-6000:]}"
    return [json.loads(pathlib.Path(f"{out}.{rank}").read_text()) for rank in range(ranks)]


def all_of(ranks):
    return sorted(ordinal for rank in ranks for ordinal in rank["ordinals"])


def test_two_ranks(tmp_path, path):
    ranks = run(tmp_path, path, 2)
    assert [rank["world"] for rank in ranks] == [2, 2]
    assert [rank["batches"] for rank in ranks] == [7, 7] == [rank["length"] for rank in ranks]
    assert all_of(ranks) == list(range(COUNT))


def test_one_rank_goes_on_from_two(tmp_path, path):
    two = run(tmp_path, path, 2, stop=3)
    assert two[0]["state"] == two[1]["state"]
    one = run(tmp_path, path, 1, state=two[0]["state"])
    assert one[0]["world"] == 1 and one[0]["batches"] == 7  # 26 samples are left
    assert all_of([*two, *one]) == list(range(COUNT))


def test_two_ranks_go_on_from_one(tmp_path, path):
    one = run(tmp_path, path, 1, stop=5)
    two = run(tmp_path, path, 2, state=one[0]["state"])
    assert two[0]["batches"] == two[1]["batches"]
    assert all_of([*one, *two]) == list(range(COUNT))
