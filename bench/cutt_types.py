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
                ("measure_out", ctypes.c_void_p), ("wisdom", ctypes.c_void_p),
                ("measure_stream", ctypes.c_void_p), ("candidate", ctypes.c_int), ("model", ctypes.c_int),
                ("device", ctypes.c_char_p), ("trust_pointers", ctypes.c_int)]


class Contraction(ctypes.Structure):
    """cuttContraction_t"""
    _fields_ = [("struct_size", ctypes.c_size_t), ("pattern", ctypes.c_char_p), ("type", ctypes.c_int),
                ("left_rank", ctypes.c_int), ("right_rank", ctypes.c_int), ("result_rank", ctypes.c_int),
                ("left_extents", ctypes.POINTER(ctypes.c_int64)), ("right_extents", ctypes.POINTER(ctypes.c_int64)),
                ("result_extents", ctypes.POINTER(ctypes.c_int64)), ("left_strides", ctypes.c_void_p),
                ("right_strides", ctypes.c_void_p), ("result_strides", ctypes.c_void_p), ("alpha", ctypes.c_void_p),
                ("beta", ctypes.c_void_p), ("conjugate_left", ctypes.c_int), ("conjugate_right", ctypes.c_int)]


class ContractionOptions(ctypes.Structure):
    """cuttContractionOptions_t"""
    _fields_ = [("struct_size", ctypes.c_size_t), ("backend", ctypes.c_int), ("threads", ctypes.c_int),
                ("workspace_limit", ctypes.c_size_t), ("provider", ctypes.c_char_p)]


class ContractionInfo(ctypes.Structure):
    """cuttContractionInfo_t"""
    _fields_ = [("struct_size", ctypes.c_size_t), ("backend", ctypes.c_int), ("provider", ctypes.c_char_p),
                ("threads", ctypes.c_int), ("permutes_left", ctypes.c_int), ("permutes_right", ctypes.c_int),
                ("permutes_result", ctypes.c_int), ("m", ctypes.c_int64), ("n", ctypes.c_int64), ("k", ctypes.c_int64),
                ("batch", ctypes.c_int64), ("gemm_m", ctypes.c_int64), ("gemm_n", ctypes.c_int64),
                ("gemm_k", ctypes.c_int64), ("gemm_count", ctypes.c_int64), ("pieces", ctypes.c_int64),
                ("workspace_bytes", ctypes.c_size_t), ("flops", ctypes.c_double), ("intensity", ctypes.c_double),
                ("predicted_seconds", ctypes.c_double), ("predicted_permute_seconds", ctypes.c_double),
                ("create_seconds", ctypes.c_double)]
