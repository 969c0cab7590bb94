! The interfaces of cutt_dist.h, call by call and name by name, as cutt_raw has those of cutt.h. Ranks, modes in perm and
! indices count from 0, as in C. The module cutt_dist is on top of this one and is what most programs use.
!
! A test holds the names here against the header, and the structures against the library.
module cutt_dist_raw
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_funptr, c_int, c_int64_t, c_null_funptr, c_null_ptr, c_ptr, c_size_t
  implicit none
  public
  private :: c_char, c_double, c_funptr, c_int, c_int64_t, c_null_funptr, c_null_ptr, c_ptr, c_size_t

  ! cuttDistPermute_t, cuttDistDirect_t
  integer(c_int), parameter :: CUTT_DIST_BY_COST = 0, CUTT_DIST_PACK = 1, CUTT_DIST_UNPACK = 2
  integer(c_int), parameter :: CUTT_DIST_DIRECT_BY_COST = 0, CUTT_DIST_DIRECT_NEVER = 1, CUTT_DIST_DIRECT_ALWAYS = 2

  integer(c_int), parameter :: CUTT_DIST_TOKEN_BYTES = 96
  ! cuttDistAlgorithm_t
  integer(c_int), parameter :: CUTT_DIST_FASTEST = 0, CUTT_DIST_LOCAL = 1, CUTT_DIST_REDISTRIBUTE = 2, CUTT_DIST_SUMMA = 3, &
    CUTT_DIST_REDUCE = 4

  type, bind(c) :: cuttDistLayout_t
    integer(c_size_t) :: struct_size = 0
    integer(c_int) :: modes = 0, copies = 1
    type(c_ptr) :: extents = c_null_ptr, parts = c_null_ptr, blocks = c_null_ptr, ranks = c_null_ptr, strides = c_null_ptr
  end type

  type, bind(c) :: cuttDistRequest_t
    type(c_ptr) :: word(8) = c_null_ptr
  end type

  type, bind(c) :: cuttDistTransport_t
    integer(c_size_t) :: struct_size = 0
    type(c_ptr) :: name = c_null_ptr, data = c_null_ptr
    integer(c_int) :: rank = 0, size = 0, shared = 0
    integer(c_int64_t) :: most_bytes = 0
    real(c_double) :: message_seconds = 0, byte_seconds = 0
    type(c_funptr) :: send = c_null_funptr, receive = c_null_funptr, wait = c_null_funptr, allgather = c_null_funptr
    type(c_funptr) :: fail = c_null_funptr, failure = c_null_funptr, destroy = c_null_funptr
    type(c_funptr) :: offer = c_null_funptr, reach = c_null_funptr
    integer(c_int) :: offers_all = 0, backend = 0
    type(c_funptr) :: exchange = c_null_funptr
    real(c_double) :: gather_seconds = 0
    integer(c_int) :: takes_devices = 0
  end type

  type, bind(c) :: cuttDistMessage_t
    integer(c_int) :: peer = 0, receives = 0
    type(c_ptr) :: bytes = c_null_ptr
    integer(c_int64_t) :: count = 0
  end type

  type, bind(c) :: cuttDistNccl_t
    integer(c_size_t) :: struct_size = 0
    type(c_ptr) :: host = c_null_ptr
    real(c_double) :: seconds = 0
  end type

  type, bind(c) :: cuttDistProblem_t
    integer(c_size_t) :: struct_size = 0
    integer(c_int) :: type = 0, conjugate = 0
    type(c_ptr) :: from = c_null_ptr, to = c_null_ptr, perm = c_null_ptr, alpha = c_null_ptr, beta = c_null_ptr
  end type

  type, bind(c) :: cuttDistOptions_t
    integer(c_size_t) :: struct_size = 0
    integer(c_int) :: threads = 0, permute = CUTT_DIST_BY_COST, direct = CUTT_DIST_DIRECT_BY_COST
    integer(c_size_t) :: workspace_limit = 0, piece_bytes = 0
    integer(c_int) :: backend = 0, trust_arguments = 0
  end type

  type, bind(c) :: cuttDistPlanInfo_t
    integer(c_size_t) :: struct_size = 0
    integer(c_int) :: permute = 0, direct = 0
    integer(c_int64_t) :: bytes_kept = 0, bytes_sent = 0, bytes_received = 0, bytes_packed = 0, bytes_unpacked = 0, &
      most_bytes_sent = 0, pieces_sent = 0, pieces_received = 0
    integer(c_size_t) :: workspace_bytes = 0
    real(c_double) :: predicted_seconds = 0, create_seconds = 0
  end type

  type, bind(c) :: cuttDistContraction_t
    integer(c_size_t) :: struct_size = 0
    type(c_ptr) :: pattern = c_null_ptr
    integer(c_int) :: type = 0
    type(c_ptr) :: left = c_null_ptr, right = c_null_ptr, result = c_null_ptr, alpha = c_null_ptr, beta = c_null_ptr
    integer(c_int) :: conjugate_left = 0, conjugate_right = 0
  end type

  type, bind(c) :: cuttDistContractionOptions_t
    integer(c_size_t) :: struct_size = 0
    integer(c_int) :: threads = 0, algorithm = CUTT_DIST_FASTEST, deterministic = 0
    integer(c_size_t) :: workspace_limit = 0
    integer(c_int64_t) :: panel = 0
    integer(c_int) :: direct = CUTT_DIST_DIRECT_BY_COST
    integer(c_size_t) :: piece_bytes = 0
    type(c_ptr) :: provider = c_null_ptr, local_algorithm = c_null_ptr
    integer(c_int) :: backend = 0, trust_arguments = 0
  end type

  type, bind(c) :: cuttDistContractionInfo_t
    integer(c_size_t) :: struct_size = 0
    integer(c_int) :: algorithm = 0, ranks = 0, moves_left = 0, moves_right = 0, moves_result = 0, partial_results = 0
    integer(c_int64_t) :: panels = 0, bytes_sent = 0, bytes_received = 0, most_bytes_sent = 0, most_bytes_received = 0
    integer(c_size_t) :: workspace_bytes = 0
    real(c_double) :: flops = 0, predicted_seconds = 0, create_seconds = 0
  end type

  ! ------------------------------------------------------------------------------------------------------------- layouts
  interface
    integer(c_int) function cuttDistLayoutCheck(layout, size) bind(c, name='cuttDistLayoutCheck')
      import
      type(cuttDistLayout_t), intent(in) :: layout
      integer(c_int), value :: size
    end function
    integer(c_int) function cuttDistLocalExtents(layout, rank, extents) bind(c, name='cuttDistLocalExtents')
      import
      type(cuttDistLayout_t), intent(in) :: layout
      integer(c_int), value :: rank
      integer(c_int64_t), intent(out) :: extents(*)
    end function
    integer(c_int) function cuttDistLocalCount(layout, rank, count) bind(c, name='cuttDistLocalCount')
      import
      type(cuttDistLayout_t), intent(in) :: layout
      integer(c_int), value :: rank
      integer(c_int64_t), intent(out) :: count
    end function
    ! local: the address of modes integers, or c_null_ptr.
    integer(c_int) function cuttDistFind(layout, global, copy, rank, local) bind(c, name='cuttDistFind')
      import
      type(cuttDistLayout_t), intent(in) :: layout
      integer(c_int64_t), intent(in) :: global(*)
      integer(c_int), value :: copy
      integer(c_int), intent(out) :: rank
      type(c_ptr), value :: local
    end function
    integer(c_int) function cuttDistGlobal(layout, rank, local, global) bind(c, name='cuttDistGlobal')
      import
      type(cuttDistLayout_t), intent(in) :: layout
      integer(c_int), value :: rank
      integer(c_int64_t), intent(in) :: local(*)
      integer(c_int64_t), intent(out) :: global(*)
    end function
    ! perm: the address of modes integers from 0, or c_null_ptr.
    integer(c_int) function cuttDistRelabel(from, to, perm, size, ranks) bind(c, name='cuttDistRelabel')
      import
      type(cuttDistLayout_t), intent(in) :: from, to
      type(c_ptr), value :: perm
      integer(c_int), value :: size
      integer(c_int), intent(out) :: ranks(*)
    end function
  end interface

  ! ------------------------------------------------------------------------------------------------------- communicators
  interface
    integer(c_int) function cuttDistCommCreate(comm, transport) bind(c, name='cuttDistCommCreate')
      import
      type(c_ptr), intent(out) :: comm
      type(cuttDistTransport_t), intent(in) :: transport
    end function
    integer(c_int) function cuttDistCommThreads(size, comms) bind(c, name='cuttDistCommThreads')
      import
      integer(c_int), value :: size
      type(c_ptr), intent(out) :: comms(*)
    end function
    integer(c_int) function cuttDistCommTransport(comm, transport) bind(c, name='cuttDistCommTransport')
      import
      type(c_ptr), value :: comm
      type(cuttDistTransport_t), intent(out) :: transport
    end function
    integer(c_int) function cuttDistCommNccl(comm, nccl, options) bind(c, name='cuttDistCommNccl')
      import
      type(c_ptr), intent(out) :: comm
      type(c_ptr), value :: nccl
      type(cuttDistNccl_t), intent(in) :: options
    end function
    integer(c_int) function cuttDistCommSynchronize(comm, stream, seconds) bind(c, name='cuttDistCommSynchronize')
      import
      type(c_ptr), value :: comm, stream
      real(c_double), value :: seconds
    end function
    integer(c_int) function cuttDistCommDestroy(comm) bind(c, name='cuttDistCommDestroy')
      import
      type(c_ptr), value :: comm
    end function
  end interface

  ! --------------------------------------------------------------------------------------------------------------- plans
  interface
    ! options: the address of a cuttDistOptions_t, or c_null_ptr.
    integer(c_int) function cuttDistPlanCreate(plan, comm, problem, options) bind(c, name='cuttDistPlanCreate')
      import
      type(c_ptr), intent(out) :: plan
      type(c_ptr), value :: comm
      type(cuttDistProblem_t), intent(in) :: problem
      type(c_ptr), value :: options
    end function
    integer(c_int) function cuttDistPlanExecute(plan, in, out, stream) bind(c, name='cuttDistPlanExecute')
      import
      type(c_ptr), value :: plan, in, out, stream
    end function
    integer(c_int) function cuttDistRefuse(comm, plan, text) bind(c, name='cuttDistRefuse')
      import
      type(c_ptr), value :: comm, plan
      character(kind=c_char), intent(in) :: text(*)
    end function
    integer(c_int) function cuttDistPlanDestroy(plan) bind(c, name='cuttDistPlanDestroy')
      import
      type(c_ptr), value :: plan
    end function
    integer(c_int) function cuttDistPlanGetInfo(plan, info) bind(c, name='cuttDistPlanGetInfo')
      import
      type(c_ptr), value :: plan
      type(cuttDistPlanInfo_t), intent(inout) :: info
    end function
    integer(c_int) function cuttDistPlanDescribe(plan, format, buffer, size, needed) bind(c, name='cuttDistPlanDescribe')
      import
      type(c_ptr), value :: plan, buffer
      integer(c_int), value :: format
      integer(c_size_t), value :: size
      integer(c_size_t), intent(out) :: needed
    end function
  end interface

  ! -------------------------------------------------------------------------------------------------------- contractions
  interface
    ! options: the address of a cuttDistContractionOptions_t, or c_null_ptr.
    integer(c_int) function cuttDistContractionPlanCreate(plan, comm, contraction, options) &
        bind(c, name='cuttDistContractionPlanCreate')
      import
      type(c_ptr), intent(out) :: plan
      type(c_ptr), value :: comm
      type(cuttDistContraction_t), intent(in) :: contraction
      type(c_ptr), value :: options
    end function
    integer(c_int) function cuttDistContractionExecute(plan, left, right, result, stream) &
        bind(c, name='cuttDistContractionExecute')
      import
      type(c_ptr), value :: plan, left, right, result, stream
    end function
    integer(c_int) function cuttDistContractionRefuse(comm, plan, text) bind(c, name='cuttDistContractionRefuse')
      import
      type(c_ptr), value :: comm, plan
      character(kind=c_char), intent(in) :: text(*)
    end function
    integer(c_int) function cuttDistContractionPlanDestroy(plan) bind(c, name='cuttDistContractionPlanDestroy')
      import
      type(c_ptr), value :: plan
    end function
    integer(c_int) function cuttDistContractionGetInfo(plan, info) bind(c, name='cuttDistContractionGetInfo')
      import
      type(c_ptr), value :: plan
      type(cuttDistContractionInfo_t), intent(inout) :: info
    end function
    integer(c_int) function cuttDistContractionDescribe(plan, format, buffer, size, needed) &
        bind(c, name='cuttDistContractionDescribe')
      import
      type(c_ptr), value :: plan, buffer
      integer(c_int), value :: format
      integer(c_size_t), value :: size
      integer(c_size_t), intent(out) :: needed
    end function
  end interface
end module
