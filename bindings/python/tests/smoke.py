"""Uses an installed package once: smoke.py PREFIX, the folder below which it has to come from."""

import sys
import warnings
from pathlib import Path

import numpy as np

import cutt

warnings.simplefilter("ignore", RuntimeWarning)
prefix = Path(sys.argv[1]).resolve()
assert prefix in Path(cutt.__file__).resolve().parents, cutt.__file__
a = np.random.default_rng(1).random((30, 40, 50))
assert (cutt.transpose(a, (2, 0, 1)) == a.transpose(2, 0, 1)).all()
assert cutt.devices()["version"] == cutt.__version__
providers = cutt.providers()["providers"]
if any(provider["backend"] == "cpu" for provider in providers):
    b = np.random.default_rng(2).random((50, 60))
    assert np.allclose(cutt.einsum("abc,cd->dab", a, b), np.einsum("abc,cd->dab", a, b))
    print("smoke: einsum by", providers[0]["name"])
else:
    print("smoke: no BLAS is here; einsum was not tried")
with open("/proc/self/maps", encoding="utf-8") as maps:
    loaded = {line.split()[-1] for line in maps if "libcutt" in line}
assert len(loaded) == 2 and all(prefix in Path(path).resolve().parents for path in loaded), loaded
print(f"smoke: cutt {cutt.__version__}, NumPy {np.__version__}, Python {sys.version.split()[0]}")
