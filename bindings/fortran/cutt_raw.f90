! The interfaces of cutt.h and cutt_contract.h, call by call and name by name, for Fortran 2003 and later.
!
! Everything means what the two headers say: modes count from 0 in perm, strings end with c_null_char, a pointer that may
! be NULL is a type(c_ptr), and of a structure struct_size is set first: problem%struct_size = c_sizeof(problem). The
! modules cutt and cutt_contraction are on top of this one and are what most programs use.
!
! A test holds the names here against the headers, and the structures against the library.
module cutt_raw
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_funptr, c_int, c_int64_t, c_null_funptr, c_null_ptr, c_ptr, c_size_t
  implicit none
  public
  private :: c_char, c_double, c_funptr, c_int, c_int64_t, c_null_funptr, c_null_ptr, c_ptr, c_size_t

  integer(c_int), parameter :: CUTT_MAX_RANK = 64

  ! cuttResult
  integer(c_int), parameter :: CUTT_SUCCESS = 0, CUTT_INVALID_PLAN = 1, CUTT_INVALID_PARAMETER = 2, &
    CUTT_INVALID_DEVICE = 3, CUTT_INTERNAL_ERROR = 4, CUTT_UNDEFINED_ERROR = 5
  ! cuttType_t
  integer(c_int), parameter :: CUTT_BYTES_1 = 1, CUTT_BYTES_2 = 2, CUTT_BYTES_4 = 4, CUTT_BYTES_8 = 8, CUTT_BYTES_16 = 16, &
    CUTT_F16 = 32, CUTT_BF16 = 33, CUTT_F32 = 34, CUTT_F64 = 35, CUTT_C32 = 36, CUTT_C64 = 37, CUTT_I32 = 38, CUTT_I64 = 39
  ! cuttBackend_t, cuttChoice_t, cuttModel_t, cuttFormat_t, cuttDrawing_t
  integer(c_int), parameter :: CUTT_BACKEND_AUTO = 0, CUTT_BACKEND_CPU = 1, CUTT_BACKEND_CUDA = 2
  integer(c_int), parameter :: CUTT_PREDICT = 0, CUTT_MEASURE = 1
  integer(c_int), parameter :: CUTT_MODEL = 0, CUTT_MODEL_PAPER = 1
  integer(c_int), parameter :: CUTT_TEXT = 0, CUTT_JSON = 1
  integer(c_int), parameter :: CUTT_OP_ADD = 0, CUTT_OP_MULTIPLY = 1, CUTT_OP_MAX = 2, CUTT_OP_MIN = 3
  integer(c_int), parameter :: CUTT_DRAW_TEXT = 0, CUTT_DRAW_SVG = 1
  integer(c_size_t), parameter :: CUTT_NO_LIMIT = -1_c_size_t ! all bits set, as (size_t)-1 in C

  type, bind(c) :: cuttProblem_t
    integer(c_size_t) :: struct_size = 0
    integer(c_int) :: rank = 0, type = 0
    type(c_ptr) :: extents = c_null_ptr, perm = c_null_ptr, in_strides = c_null_ptr, out_strides = c_null_ptr
    type(c_ptr) :: alpha = c_null_ptr, beta = c_null_ptr
    integer(c_int) :: conjugate = 0
  end type

  type, bind(c) :: cuttOptions_t
    integer(c_size_t) :: struct_size = 0
    integer(c_int) :: backend = CUTT_BACKEND_AUTO, threads = 0, choice = CUTT_PREDICT
    real(c_double) :: measure_seconds = 0
    type(c_ptr) :: measure_in = c_null_ptr, measure_out = c_null_ptr, wisdom = c_null_ptr, measure_stream = c_null_ptr
    integer(c_int) :: candidate = 0, model = CUTT_MODEL
    type(c_ptr) :: device = c_null_ptr
    integer(c_int) :: trust_pointers = 0
  end type

  type, bind(c) :: cuttPlanInfo_t
    integer(c_size_t) :: struct_size = 0
    integer(c_int) :: backend = 0
    type(c_ptr) :: method = c_null_ptr, isa = c_null_ptr
    integer(c_int) :: threads = 0, fused_rank = 0, fused_elem_bytes = 0
    integer(c_int64_t) :: bytes_moved = 0
    real(c_double) :: predicted_seconds = 0, measured_seconds = 0, create_seconds = 0
  end type

  type, bind(c) :: cuttCalibration_t
    integer(c_size_t) :: struct_size = 0
    integer(c_int) :: backend = CUTT_BACKEND_AUTO
    real(c_double) :: seconds = 0
    integer(c_int64_t) :: seed = 1
    integer(c_int) :: threads = 0
    type(c_ptr) :: path = c_null_ptr
    type(c_funptr) :: progress = c_null_funptr
    type(c_ptr) :: data = c_null_ptr
  end type

  type, bind(c) :: cuttContraction_t
    integer(c_size_t) :: struct_size = 0
    type(c_ptr) :: pattern = c_null_ptr
    integer(c_int) :: type = 0, left_rank = 0, right_rank = 0, result_rank = 0
    type(c_ptr) :: left_extents = c_null_ptr, right_extents = c_null_ptr, result_extents = c_null_ptr
    type(c_ptr) :: left_strides = c_null_ptr, right_strides = c_null_ptr, result_strides = c_null_ptr
    type(c_ptr) :: alpha = c_null_ptr, beta = c_null_ptr
    integer(c_int) :: conjugate_left = 0, conjugate_right = 0
    integer(c_int) :: reduce = CUTT_OP_ADD
  end type

  type, bind(c) :: cuttContractionOptions_t
    integer(c_size_t) :: struct_size = 0
    integer(c_int) :: backend = CUTT_BACKEND_AUTO, threads = 0
    integer(c_size_t) :: workspace_limit = CUTT_NO_LIMIT
    type(c_ptr) :: provider = c_null_ptr, algorithm = c_null_ptr
    integer(c_int) :: choice = CUTT_PREDICT
    real(c_double) :: measure_seconds = 0
    type(c_ptr) :: wisdom = c_null_ptr
  end type

  type, bind(c) :: cuttContractionInfo_t
    integer(c_size_t) :: struct_size = 0
    integer(c_int) :: backend = 0
    type(c_ptr) :: provider = c_null_ptr
    integer(c_int) :: threads = 0, permutes_left = 0, permutes_right = 0, permutes_result = 0
    integer(c_int64_t) :: m = 0, n = 0, k = 0, batch = 0, gemm_m = 0, gemm_n = 0, gemm_k = 0, gemm_count = 0, pieces = 0
    integer(c_size_t) :: workspace_bytes = 0
    real(c_double) :: flops = 0, intensity = 0, predicted_seconds = 0, predicted_permute_seconds = 0, create_seconds = 0
    type(c_ptr) :: algorithm = c_null_ptr
    real(c_double) :: measured_seconds = 0
  end type

  type, bind(c) :: cuttElementwise_t
    integer(c_size_t) :: struct_size = 0
    type(c_ptr) :: pattern = c_null_ptr
    integer(c_int) :: type = 0, a_rank = 0, b_rank = 0, c_rank = 0, result_rank = 0
    type(c_ptr) :: a_extents = c_null_ptr, b_extents = c_null_ptr, c_extents = c_null_ptr, result_extents = c_null_ptr
    type(c_ptr) :: a_strides = c_null_ptr, b_strides = c_null_ptr, c_strides = c_null_ptr, result_strides = c_null_ptr
    type(c_ptr) :: alpha = c_null_ptr, beta = c_null_ptr, gamma = c_null_ptr
    integer(c_int) :: conjugate_a = 0, conjugate_b = 0, conjugate_c = 0, op_ab = CUTT_OP_ADD, op_abc = CUTT_OP_ADD
  end type

  type, bind(c) :: cuttElementwiseOptions_t
    integer(c_size_t) :: struct_size = 0
    integer(c_int) :: backend = CUTT_BACKEND_AUTO, threads = 0
  end type

  type, bind(c) :: cuttContractionTimes_t
    real(c_double) :: total = 0, permute = 0, gemm = 0
  end type

  ! ------------------------------------------------------------------------------------------------------------ cutt.h
  interface
    type(c_ptr) function cuttResultName(result) bind(c, name='cuttResultName')
      import
      integer(c_int), value :: result
    end function
    type(c_ptr) function cuttLastError() bind(c, name='cuttLastError')
      import
    end function
    integer(c_int) function cuttVersion() bind(c, name='cuttVersion')
      import
    end function
    subroutine cuttInitialize() bind(c, name='cuttInitialize')
    end subroutine
    subroutine cuttFinalize() bind(c, name='cuttFinalize')
    end subroutine

    ! The paper's four calls. A handle is an unsigned int.
    integer(c_int) function cuttPlan(handle, rank, dim, permutation, sizeofType, stream) bind(c, name='cuttPlan')
      import
      integer(c_int), intent(out) :: handle
      integer(c_int), value :: rank
      integer(c_int), intent(in) :: dim(*), permutation(*)
      integer(c_size_t), value :: sizeofType
      type(c_ptr), value :: stream
    end function
    integer(c_int) function cuttPlanMeasure(handle, rank, dim, permutation, sizeofType, stream, idata, odata) &
      bind(c, name='cuttPlanMeasure')
      import
      integer(c_int), intent(out) :: handle
      integer(c_int), value :: rank
      integer(c_int), intent(in) :: dim(*), permutation(*)
      integer(c_size_t), value :: sizeofType
      type(c_ptr), value :: stream, idata, odata
    end function
    integer(c_int) function cuttExecute(handle, idata, odata) bind(c, name='cuttExecute')
      import
      integer(c_int), value :: handle
      type(c_ptr), value :: idata, odata
    end function
    integer(c_int) function cuttExecuteScaled(handle, idata, odata, alpha, beta) bind(c, name='cuttExecuteScaled')
      import
      integer(c_int), value :: handle
      type(c_ptr), value :: idata, odata, alpha, beta
    end function
    integer(c_int) function cuttDestroy(handle) bind(c, name='cuttDestroy')
      import
      integer(c_int), value :: handle
    end function

    ! options: c_null_ptr, or c_loc of a cuttOptions_t with the attribute target.
    integer(c_int) function cuttPlanCreate(plan, problem, options) bind(c, name='cuttPlanCreate')
      import
      type(c_ptr), intent(out) :: plan
      type(cuttProblem_t), intent(in) :: problem
      type(c_ptr), value :: options
    end function
    integer(c_int) function cuttPlanExecute(plan, in, out, stream) bind(c, name='cuttPlanExecute')
      import
      type(c_ptr), value :: plan, in, out, stream
    end function
    ! in, out: arrays of count C pointers each (c_loc of elements (1, ..., 1)); plans: of count handles.
    integer(c_int) function cuttPlanExecuteBatch(plan, count, in, out, stream) bind(c, name='cuttPlanExecuteBatch')
      import
      type(c_ptr), value :: plan, stream
      integer(c_int64_t), value :: count
      type(c_ptr), intent(in) :: in(*), out(*)
    end function
    integer(c_int) function cuttPlansExecute(count, plans, in, out, stream) bind(c, name='cuttPlansExecute')
      import
      integer(c_int64_t), value :: count
      type(c_ptr), intent(in) :: plans(*), in(*), out(*)
      type(c_ptr), value :: stream
    end function
    integer(c_int) function cuttPlanDestroy(plan) bind(c, name='cuttPlanDestroy')
      import
      type(c_ptr), value :: plan
    end function
    integer(c_int) function cuttPermute(problem, options, in, out, stream) bind(c, name='cuttPermute')
      import
      type(cuttProblem_t), intent(in) :: problem
      type(c_ptr), value :: options, in, out, stream
    end function
    integer(c_int) function cuttPlanTime(plan, in, out, stream, count, seconds) bind(c, name='cuttPlanTime')
      import
      type(c_ptr), value :: plan, in, out, stream
      integer(c_int), value :: count
      real(c_double), intent(out) :: seconds(*)
    end function

    integer(c_int) function cuttMemoryAllocate(backend, bytes, memory) bind(c, name='cuttMemoryAllocate')
      import
      integer(c_int), value :: backend
      integer(c_size_t), value :: bytes
      type(c_ptr), intent(out) :: memory
    end function
    integer(c_int) function cuttMemoryFree(backend, memory) bind(c, name='cuttMemoryFree')
      import
      integer(c_int), value :: backend
      type(c_ptr), value :: memory
    end function
    integer(c_int) function cuttMemoryCopy(backend, to, from, bytes) bind(c, name='cuttMemoryCopy')
      import
      integer(c_int), value :: backend
      type(c_ptr), value :: to, from
      integer(c_size_t), value :: bytes
    end function
    integer(c_int) function cuttCopyTime(backend, to, from, bytes, stream, count, seconds) bind(c, name='cuttCopyTime')
      import
      integer(c_int), value :: backend, count
      type(c_ptr), value :: to, from, stream
      integer(c_size_t), value :: bytes
      real(c_double), intent(out) :: seconds(*)
    end function

    ! Texts: buffer may be c_null_ptr when size is 0; needed receives what the whole text takes with its final 0.
    integer(c_int) function cuttPlanGetInfo(plan, info) bind(c, name='cuttPlanGetInfo')
      import
      type(c_ptr), value :: plan
      type(cuttPlanInfo_t), intent(inout) :: info
    end function
    integer(c_int) function cuttPlanDescribe(plan, format, buffer, size, needed) bind(c, name='cuttPlanDescribe')
      import
      type(c_ptr), value :: plan, buffer
      integer(c_int), value :: format
      integer(c_size_t), value :: size
      integer(c_size_t), intent(out) :: needed
    end function
    integer(c_int) function cuttPlanDraw(plan, format, buffer, size, needed) bind(c, name='cuttPlanDraw')
      import
      type(c_ptr), value :: plan, buffer
      integer(c_int), value :: format
      integer(c_size_t), value :: size
      integer(c_size_t), intent(out) :: needed
    end function
    integer(c_int) function cuttDevicesDescribe(format, buffer, size, needed) bind(c, name='cuttDevicesDescribe')
      import
      integer(c_int), value :: format
      type(c_ptr), value :: buffer
      integer(c_size_t), value :: size
      integer(c_size_t), intent(out) :: needed
    end function
    integer(c_int) function cuttCalibrate(calibration, format, buffer, size, needed) bind(c, name='cuttCalibrate')
      import
      type(cuttCalibration_t), intent(in) :: calibration
      integer(c_int), value :: format
      type(c_ptr), value :: buffer
      integer(c_size_t), value :: size
      integer(c_size_t), intent(out) :: needed
    end function

    integer(c_int) function cuttWisdomCreate(wisdom) bind(c, name='cuttWisdomCreate')
      import
      type(c_ptr), intent(out) :: wisdom
    end function
    integer(c_int) function cuttWisdomDestroy(wisdom) bind(c, name='cuttWisdomDestroy')
      import
      type(c_ptr), value :: wisdom
    end function
    integer(c_int) function cuttWisdomLoad(wisdom, path, used, ignored) bind(c, name='cuttWisdomLoad')
      import
      type(c_ptr), value :: wisdom
      character(kind=c_char), intent(in) :: path(*)
      integer(c_size_t), intent(out) :: used, ignored
    end function
    integer(c_int) function cuttWisdomSave(wisdom, path) bind(c, name='cuttWisdomSave')
      import
      type(c_ptr), value :: wisdom
      character(kind=c_char), intent(in) :: path(*)
    end function
  end interface

  ! --------------------------------------------------------------------------------------------------- cutt_contract.h
  interface
    integer(c_int) function cuttContractionPlanCreate(plan, contraction, options) bind(c, name='cuttContractionPlanCreate')
      import
      type(c_ptr), intent(out) :: plan
      type(cuttContraction_t), intent(in) :: contraction
      type(c_ptr), value :: options
    end function
    integer(c_int) function cuttContractionWorkspace(plan, bytes) bind(c, name='cuttContractionWorkspace')
      import
      type(c_ptr), value :: plan
      integer(c_size_t), intent(out) :: bytes
    end function
    integer(c_int) function cuttContractionExecute(plan, left, right, result, workspace, workspace_bytes, stream) &
      bind(c, name='cuttContractionExecute')
      import
      type(c_ptr), value :: plan, left, right, result, workspace, stream
      integer(c_size_t), value :: workspace_bytes
    end function
    integer(c_int) function cuttContractionPlanDestroy(plan) bind(c, name='cuttContractionPlanDestroy')
      import
      type(c_ptr), value :: plan
    end function
    integer(c_int) function cuttContractionDestroy(plan) bind(c, name='cuttContractionDestroy') ! its first name
      import
      type(c_ptr), value :: plan
    end function
    integer(c_int) function cuttContract(contraction, options, left, right, result, stream) bind(c, name='cuttContract')
      import
      type(cuttContraction_t), intent(in) :: contraction
      type(c_ptr), value :: options, left, right, result, stream
    end function
    integer(c_int) function cuttContractionGetInfo(plan, info) bind(c, name='cuttContractionGetInfo')
      import
      type(c_ptr), value :: plan
      type(cuttContractionInfo_t), intent(inout) :: info
    end function
    integer(c_int) function cuttContractionDescribe(plan, format, buffer, size, needed) bind(c, name='cuttContractionDescribe')
      import
      type(c_ptr), value :: plan, buffer
      integer(c_int), value :: format
      integer(c_size_t), value :: size
      integer(c_size_t), intent(out) :: needed
    end function
    integer(c_int) function cuttContractionTime(plan, left, right, result, workspace, workspace_bytes, stream, count, times) &
      bind(c, name='cuttContractionTime')
      import
      type(c_ptr), value :: plan, left, right, result, workspace, stream
      integer(c_size_t), value :: workspace_bytes
      integer(c_int), value :: count
      type(cuttContractionTimes_t), intent(inout) :: times(*)
    end function
    integer(c_int) function cuttElementwisePlanCreate(plan, elementwise, options) bind(c, name='cuttElementwisePlanCreate')
      import
      type(c_ptr), intent(out) :: plan
      type(cuttElementwise_t), intent(in) :: elementwise
      type(c_ptr), value :: options
    end function
    integer(c_int) function cuttElementwiseExecute(plan, a, b, c, result, stream) &
      bind(c, name='cuttElementwiseExecute')
      import
      type(c_ptr), value :: plan, a, b, c, result, stream
    end function
    integer(c_int) function cuttElementwiseDescribe(plan, format, buffer, size, needed) bind(c, name='cuttElementwiseDescribe')
      import
      type(c_ptr), value :: plan, buffer
      integer(c_int), value :: format
      integer(c_size_t), value :: size
      integer(c_size_t), intent(out) :: needed
    end function
    integer(c_int) function cuttElementwisePlanDestroy(plan) bind(c, name='cuttElementwisePlanDestroy')
      import
      type(c_ptr), value :: plan
    end function
    integer(c_int) function cuttElementwiseCompute(elementwise, options, a, b, c, result, stream) &
      bind(c, name='cuttElementwiseCompute')
      import
      type(cuttElementwise_t), intent(in) :: elementwise
      type(c_ptr), value :: options, a, b, c, result, stream
    end function
    integer(c_int) function cuttContractionTimeGemm(plan, stream, count, seconds) bind(c, name='cuttContractionTimeGemm')
      import
      type(c_ptr), value :: plan, stream
      integer(c_int), value :: count
      real(c_double), intent(out) :: seconds(*)
    end function
    integer(c_int) function cuttProvidersDescribe(format, buffer, size, needed) bind(c, name='cuttProvidersDescribe')
      import
      integer(c_int), value :: format
      type(c_ptr), value :: buffer
      integer(c_size_t), value :: size
      integer(c_size_t), intent(out) :: needed
    end function
  end interface
end module
