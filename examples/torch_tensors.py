"""PyTorch's tensors, on the CPU and, where there is one, on the GPU: NHWC to NCHW, and a contraction, beside PyTorch.

From a source tree: PYTHONPATH=bindings/python CUTT_LIBRARY_DIR=build/lib python3 examples/torch_tensors.py
"""

import sys
import time

try:
    import torch
except ImportError:
    print("skipped: there is no PyTorch")
    sys.exit(77)
import cutt


def milliseconds(call, device, rounds=5):
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        call()
        if device == "cuda":  # work goes to the current stream, and nothing waits for it
            torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    return 1e3 * min(times)


for device in ["cpu"] + ["cuda"] * torch.cuda.is_available():
    a = torch.rand(16, 224, 224, 3, device=device)
    ours = cutt.transpose(a, (0, 3, 1, 2))  # a tensor of PyTorch's, where a is
    theirs = a.permute(0, 3, 1, 2).contiguous()
    if not torch.equal(ours, theirs):
        sys.exit(f"{device}: the results DIFFER")
    mine = milliseconds(lambda: cutt.transpose(a, (0, 3, 1, 2), out=ours), device)
    other = milliseconds(lambda: theirs.copy_(a.permute(0, 3, 1, 2)), device)
    print(f"{device}: NHWC to NCHW: PyTorch {other:.2f} ms, cuTT {mine:.2f} ms")

    left, right = torch.rand(24, 30, 40, device=device), torch.rand(40, 50, device=device)
    try:
        product = cutt.einsum("abc,cd->dba", left, right)
    except RuntimeError as error:
        print(f"{device}: no contraction: {error}")
        continue
    if not torch.allclose(product, torch.einsum("abc,cd->dba", left, right), rtol=1e-4, atol=1e-4):
        sys.exit(f"{device}: the contraction is WRONG")
    print(f"{device}: einsum abc,cd->dba as PyTorch's")
