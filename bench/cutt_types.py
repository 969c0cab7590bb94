"""The structs of cutt.h that the comparisons with other libraries fill, for ctypes."""

import ctypes


class Problem(ctypes.Structure):
    """cuttProblem_t"""
    _fields_ = [("struct_size", ctypes.c_size_t), ("rank", ctypes.c_int), ("type", ctypes.c_int),
                ("extents", ctypes.POINTER(ctypes.c_int64)), ("perm", ctypes.POINTER(ctypes.c_int)),
                ("in_strides", ctypes.c_void_p), ("out_strides", ctypes.c_void_p), ("alpha", ctypes.c_void_p),
                ("beta", ctypes.c_void_p), ("conjugate", ctypes.c_int)]


class Options(ctypes.Structure):
    """cuttOptions_t"""
    _fields_ = [("struct_size", ctypes.c_size_t), ("backend", ctypes.c_int), ("threads", ctypes.c_int),
                ("choice", ctypes.c_int), ("measure_seconds", ctypes.c_double), ("measure_in", ctypes.c_void_p),
                ("measure_out", ctypes.c_void_p), ("wisdom", ctypes.c_void_p)]
