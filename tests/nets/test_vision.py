"""torchvision can be imported with any build of torch."""

import subprocess
import sys


def test_models_work_in_a_fresh_process() -> None:
    code = (
        "from warlab.common.vision import torchvision, _libraries, load; import torch\n"
        "out = torchvision.models.resnet18().eval()(torch.zeros(1, 3, 64, 64))\n"
        "assert out.shape == (1, 1000)\n"
        "declared = len(_libraries)\n"
        "assert load() is torchvision and len(_libraries) == declared <= 1\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
