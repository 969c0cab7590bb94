"""libcutt_dist, as ctypes sees it: its structs and calls. It is loaded by the first import of cutt.dist."""

from __future__ import annotations

import ctypes
from ctypes import CFUNCTYPE, POINTER, Structure, c_char_p, c_double, c_int, c_int64, c_size_t, c_void_p

from . import _library as L

TOKEN_BYTES = 96
PERMUTE = {"cost": 0, "pack": 1, "unpack": 2}
DIRECT = {None: 0, False: 1, True: 2}


class Layout(Structure):
    """cuttDistLayout_t"""

    _fields_ = [
        ("struct_size", c_size_t),
        ("modes", c_int),
        ("copies", c_int),
        ("extents", POINTER(c_int64)),
        ("parts", POINTER(c_int)),
        ("blocks", POINTER(c_int64)),
        ("ranks", POINTER(c_int)),
        ("strides", POINTER(c_int64)),
    ]


SEND = CFUNCTYPE(c_int, c_void_p, c_int, c_void_p, c_int64, POINTER(c_void_p))
WAIT = CFUNCTYPE(c_int, c_void_p, POINTER(c_void_p))
ALLGATHER = CFUNCTYPE(c_int, c_void_p, c_void_p, c_int64, c_void_p)
FAIL = CFUNCTYPE(None, c_void_p, c_char_p)
FAILURE = CFUNCTYPE(c_void_p, c_void_p, POINTER(c_int))
DESTROY = CFUNCTYPE(None, c_void_p)
OFFER = CFUNCTYPE(c_void_p, c_void_p, c_void_p, c_int64, c_void_p)
REACH = CFUNCTYPE(c_void_p, c_void_p, c_int, c_void_p)


class Transport(Structure):
    """cuttDistTransport_t"""

    _fields_ = [
        ("struct_size", c_size_t),
        ("name", c_char_p),
        ("data", c_void_p),
        ("rank", c_int),
        ("size", c_int),
        ("shared", c_int),
        ("most_bytes", c_int64),
        ("message_seconds", c_double),
        ("byte_seconds", c_double),
        ("send", SEND),
        ("receive", SEND),
        ("wait", WAIT),
        ("allgather", ALLGATHER),
        ("fail", FAIL),
        ("failure", FAILURE),
        ("destroy", DESTROY),
        ("offer", OFFER),
        ("reach", REACH),
        ("offers_all", c_int),
        ("backend", c_int),
        ("exchange", c_void_p),
    ]


class Problem(Structure):
    """cuttDistProblem_t"""

    _fields_ = [
        ("struct_size", c_size_t),
        ("type", c_int),
        ("conjugate", c_int),
        ("from_", POINTER(Layout)),
        ("to", POINTER(Layout)),
        ("perm", POINTER(c_int)),
        ("alpha", c_void_p),
        ("beta", c_void_p),
    ]


class Options(Structure):
    """cuttDistOptions_t"""

    _fields_ = [
        ("struct_size", c_size_t),
        ("threads", c_int),
        ("permute", c_int),
        ("direct", c_int),
        ("workspace_limit", c_size_t),
        ("piece_bytes", c_size_t),
        ("backend", c_int),
        ("trust_arguments", c_int),
    ]


class PlanInfo(Structure):
    """cuttDistPlanInfo_t"""

    _fields_ = [
        ("struct_size", c_size_t),
        ("permute", c_int),
        ("direct", c_int),
        ("bytes_kept", c_int64),
        ("bytes_sent", c_int64),
        ("bytes_received", c_int64),
        ("bytes_packed", c_int64),
        ("bytes_unpacked", c_int64),
        ("most_bytes_sent", c_int64),
        ("pieces_sent", c_int64),
        ("pieces_received", c_int64),
        ("workspace_bytes", c_size_t),
        ("predicted_seconds", c_double),
        ("create_seconds", c_double),
    ]


_LAYOUT = POINTER(Layout)
lib: ctypes.CDLL = L._load(
    "libcutt_dist",
    {
        "cuttDistLayoutCheck": [_LAYOUT, c_int],
        "cuttDistLocalExtents": [_LAYOUT, c_int, POINTER(c_int64)],
        "cuttDistLocalCount": [_LAYOUT, c_int, POINTER(c_int64)],
        "cuttDistFind": [_LAYOUT, POINTER(c_int64), c_int, POINTER(c_int), POINTER(c_int64)],
        "cuttDistGlobal": [_LAYOUT, c_int, POINTER(c_int64), POINTER(c_int64)],
        "cuttDistRelabel": [_LAYOUT, _LAYOUT, POINTER(c_int), c_int, POINTER(c_int)],
        "cuttDistCommCreate": [POINTER(c_void_p), POINTER(Transport)],
        "cuttDistCommThreads": [c_int, POINTER(c_void_p)],
        "cuttDistCommDestroy": [c_void_p],
        "cuttDistPlanCreate": [POINTER(c_void_p), c_void_p, POINTER(Problem), POINTER(Options)],
        "cuttDistPlanExecute": [c_void_p] * 4,
        "cuttDistRefuse": [c_void_p, c_void_p, c_char_p],
        "cuttDistPlanDestroy": [c_void_p],
        "cuttDistPlanGetInfo": [c_void_p, POINTER(PlanInfo)],
        "cuttDistPlanDescribe": [c_void_p, *L._TEXT],
    },
)
