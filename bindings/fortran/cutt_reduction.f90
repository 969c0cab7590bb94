! Reductions of a Fortran array, result = alpha * reduce(in) + beta * result, by libcutt_contract: sums, products, maxima and
! minima over any modes, and diagonals.
!
!   use cutt_reduction
!   call cutt_reduce('ijk->j', a, s)                          ! s(j) is the sum of a(:, j, :)
!   call cutt_reduce('ijk->ki', a, m, CUTT_OP_MAX)
!   call cutt_reduce('iji->j', a, t)                          ! traces
!
!   type(cutt_reduction_plan) :: plan                         ! planned once, executed any number of times
!   call plan%create('ijk->j', a, s)
!   call plan%execute(a, s)
!
! The first letter is the first subscript. Arrays are of any rank up to 15, all of one type: real or complex in single or double
! precision, or integer of 4 or 8 bytes. Operators are CUTT_OP_ADD (also by default), CUTT_OP_MULTIPLY, CUTT_OP_MAX and CUTT_OP_MIN.
! Products of two arrays are reduced by cutt_contract(..., reduce=...). Sections, stat and errmsg, and backend are as in the module
! cutt.
module cutt_reduction
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use cutt_raw
  use cutt, only: cutt_address, cutt_finish, cutt_string
  implicit none
  private
  public :: cutt_reduce, cutt_reduction_plan, CUTT_OP_ADD, CUTT_OP_MULTIPLY, CUTT_OP_MAX, CUTT_OP_MIN

  integer, parameter :: most = 15 ! the largest rank of a Fortran array

  ! A plan: created again, destroyed and not assigned as a cutt_plan is.
  type :: cutt_reduction_plan
    private
    type(c_ptr) :: handle = c_null_ptr
    integer :: rank(2) = 0
    integer(c_int64_t) :: shape(most, 2) = 0
  contains
    procedure, private :: create_r4, create_r8, create_c4, create_c8, create_i4, create_i8
    ! create(pattern, in, result, op, alpha, beta, conjugate, threads, backend, stat, errmsg), all from op on optional. The
    ! arrays give type and shape, and are neither read nor kept.
    generic :: create => create_r4, create_r8, create_c4, create_c8, create_i4, create_i8
    procedure :: execute => plan_execute
    procedure :: describe => plan_describe
    procedure :: destroy => plan_destroy
    final :: plan_finish
  end type

  ! cutt_reduce(pattern, in, result, op, alpha, beta, conjugate, threads, backend, stat, errmsg): create, execute, destroy.
  interface cutt_reduce
    module procedure reduce_r4, reduce_r8, reduce_c4, reduce_c8, reduce_i4, reduce_i8
  end interface

contains

  subroutine create(this, type, pattern, in, result, op, alpha, beta, conjugate, threads, backend, stat, errmsg)
    class(cutt_reduction_plan), intent(inout) :: this
    integer(c_int), intent(in) :: type
    character(*), intent(in) :: pattern
    integer(c_int64_t), intent(in), target, contiguous :: in(:), result(:)
    integer(c_int), intent(in), optional :: op
    type(c_ptr), intent(in) :: alpha, beta
    logical, intent(in), optional :: conjugate
    integer, intent(in), optional :: threads, backend
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(kind=c_char), target :: pattern_c(len_trim(pattern) + 1)
    type(cuttContraction_t) :: contraction
    type(cuttContractionOptions_t), target :: options
    integer(c_int) :: code
    integer :: i
    call this%destroy()
    do i = 1, len_trim(pattern)
      pattern_c(i) = pattern(i:i)
    end do
    pattern_c(size(pattern_c)) = c_null_char
    contraction%struct_size = c_sizeof(contraction)
    contraction%pattern = c_loc(pattern_c)
    contraction%type = type
    contraction%left_rank = size(in)
    contraction%result_rank = size(result)
    if (size(in) > 0) contraction%left_extents = c_loc(in)
    if (size(result) > 0) contraction%result_extents = c_loc(result)
    contraction%alpha = alpha
    contraction%beta = beta
    if (present(conjugate)) contraction%conjugate_left = merge(1, 0, conjugate)
    if (present(op)) contraction%reduce = op
    options%struct_size = c_sizeof(options)
    options%backend = CUTT_BACKEND_CPU
    if (present(backend)) options%backend = int(backend, c_int)
    if (present(threads)) options%threads = int(threads, c_int)
    code = cuttContractionPlanCreate(this%handle, contraction, c_loc(options))
    if (code == CUTT_SUCCESS) then
      this%rank = [size(in), size(result)]
      this%shape(:size(in), 1) = in
      this%shape(:size(result), 2) = result
    end if
    call cutt_finish(code, stat=stat, errmsg=errmsg)
  end subroutine

  ! Reduces in to result, arrays of the type and shapes that the plan was made for. stream: on a GPU.
  subroutine plan_execute(this, in, result, stream, stat, errmsg)
    class(cutt_reduction_plan), intent(in) :: this
    type(*), intent(in), contiguous, target :: in(..)
    type(*), intent(inout), contiguous, target :: result(..)
    type(c_ptr), intent(in), optional :: stream
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: used
    integer(c_int) :: code
    used = c_null_ptr
    if (present(stream)) used = stream
    if (.not. c_associated(this%handle)) then
      call cutt_finish(CUTT_INVALID_PLAN, 'the plan has not been created', stat, errmsg)
    else if (.not. same(this, 1, shape(in, c_int64_t)) .or. .not. same(this, 2, shape(result, c_int64_t))) then
      call cutt_finish(CUTT_INVALID_PARAMETER, 'in or result has another shape than the plan was made for', stat, errmsg)
    else
      code = cuttContractionExecute(this%handle, c_loc(in), c_null_ptr, c_loc(result), c_null_ptr, 0_c_size_t, used)
      call cutt_finish(code, stat=stat, errmsg=errmsg)
    end if
  end subroutine

  pure logical function same(this, which, extents)
    class(cutt_reduction_plan), intent(in) :: this
    integer, intent(in) :: which
    integer(c_int64_t), intent(in) :: extents(:)
    same = size(extents) == this%rank(which)
    if (same) same = all(extents == this%shape(:size(extents), which))
  end function

  ! What the plan does; "" without a plan.
  function plan_describe(this) result(text)
    class(cutt_reduction_plan), intent(in) :: this
    character(:), allocatable :: text
    character(kind=c_char), allocatable, target :: buffer(:)
    integer(c_size_t) :: needed, again
    integer(c_int) :: code
    text = ''
    if (.not. c_associated(this%handle)) return
    if (cuttContractionDescribe(this%handle, CUTT_TEXT, c_null_ptr, 0_c_size_t, needed) /= CUTT_SUCCESS) return
    allocate (buffer(needed))
    code = cuttContractionDescribe(this%handle, CUTT_TEXT, c_loc(buffer), needed, again)
    if (code == CUTT_SUCCESS) text = cutt_string(c_loc(buffer))
  end function

  subroutine plan_destroy(this)
    class(cutt_reduction_plan), intent(inout) :: this
    integer(c_int) :: code
    if (c_associated(this%handle)) code = cuttContractionPlanDestroy(this%handle)
    this%handle = c_null_ptr
  end subroutine

  impure elemental subroutine plan_finish(this)
    type(cutt_reduction_plan), intent(inout) :: this
    call this%destroy()
  end subroutine

  ! The same for each type. create asks for the shapes only: sections are not copied.
  subroutine create_r4(this, pattern, in, result, op, alpha, beta, conjugate, threads, backend, stat, errmsg)
    class(cutt_reduction_plan), intent(inout) :: this
    character(*), intent(in) :: pattern
    real(real32), intent(in) :: in(..), result(..)
    integer(c_int), intent(in), optional :: op
    real(real32), intent(in), optional, target :: alpha, beta
    logical, intent(in), optional :: conjugate
    integer, intent(in), optional :: threads, backend
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call create(this, CUTT_F32, pattern, shape(in, c_int64_t), shape(result, c_int64_t), op, cutt_address(alpha), &
                cutt_address(beta), conjugate, threads, backend, stat, errmsg)
  end subroutine

  subroutine create_r8(this, pattern, in, result, op, alpha, beta, conjugate, threads, backend, stat, errmsg)
    class(cutt_reduction_plan), intent(inout) :: this
    character(*), intent(in) :: pattern
    real(real64), intent(in) :: in(..), result(..)
    integer(c_int), intent(in), optional :: op
    real(real64), intent(in), optional, target :: alpha, beta
    logical, intent(in), optional :: conjugate
    integer, intent(in), optional :: threads, backend
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call create(this, CUTT_F64, pattern, shape(in, c_int64_t), shape(result, c_int64_t), op, cutt_address(alpha), &
                cutt_address(beta), conjugate, threads, backend, stat, errmsg)
  end subroutine

  subroutine create_c4(this, pattern, in, result, op, alpha, beta, conjugate, threads, backend, stat, errmsg)
    class(cutt_reduction_plan), intent(inout) :: this
    character(*), intent(in) :: pattern
    complex(real32), intent(in) :: in(..), result(..)
    integer(c_int), intent(in), optional :: op
    complex(real32), intent(in), optional, target :: alpha, beta
    logical, intent(in), optional :: conjugate
    integer, intent(in), optional :: threads, backend
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call create(this, CUTT_C32, pattern, shape(in, c_int64_t), shape(result, c_int64_t), op, cutt_address(alpha), &
                cutt_address(beta), conjugate, threads, backend, stat, errmsg)
  end subroutine

  subroutine create_c8(this, pattern, in, result, op, alpha, beta, conjugate, threads, backend, stat, errmsg)
    class(cutt_reduction_plan), intent(inout) :: this
    character(*), intent(in) :: pattern
    complex(real64), intent(in) :: in(..), result(..)
    integer(c_int), intent(in), optional :: op
    complex(real64), intent(in), optional, target :: alpha, beta
    logical, intent(in), optional :: conjugate
    integer, intent(in), optional :: threads, backend
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call create(this, CUTT_C64, pattern, shape(in, c_int64_t), shape(result, c_int64_t), op, cutt_address(alpha), &
                cutt_address(beta), conjugate, threads, backend, stat, errmsg)
  end subroutine

  subroutine create_i4(this, pattern, in, result, op, alpha, beta, conjugate, threads, backend, stat, errmsg)
    class(cutt_reduction_plan), intent(inout) :: this
    character(*), intent(in) :: pattern
    integer(int32), intent(in) :: in(..), result(..)
    integer(c_int), intent(in), optional :: op
    integer(int32), intent(in), optional, target :: alpha, beta
    logical, intent(in), optional :: conjugate
    integer, intent(in), optional :: threads, backend
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call create(this, CUTT_I32, pattern, shape(in, c_int64_t), shape(result, c_int64_t), op, cutt_address(alpha), &
                cutt_address(beta), conjugate, threads, backend, stat, errmsg)
  end subroutine

  subroutine create_i8(this, pattern, in, result, op, alpha, beta, conjugate, threads, backend, stat, errmsg)
    class(cutt_reduction_plan), intent(inout) :: this
    character(*), intent(in) :: pattern
    integer(int64), intent(in) :: in(..), result(..)
    integer(c_int), intent(in), optional :: op
    integer(int64), intent(in), optional, target :: alpha, beta
    logical, intent(in), optional :: conjugate
    integer, intent(in), optional :: threads, backend
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call create(this, CUTT_I64, pattern, shape(in, c_int64_t), shape(result, c_int64_t), op, cutt_address(alpha), &
                cutt_address(beta), conjugate, threads, backend, stat, errmsg)
  end subroutine

  subroutine reduce_r4(pattern, in, result, op, alpha, beta, conjugate, threads, backend, stat, errmsg)
    character(*), intent(in) :: pattern
    real(real32), intent(in), contiguous, target :: in(..)
    real(real32), intent(inout), contiguous, target :: result(..)
    integer(c_int), intent(in), optional :: op
    real(real32), intent(in), optional :: alpha, beta
    logical, intent(in), optional :: conjugate
    integer, intent(in), optional :: threads, backend
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(cutt_reduction_plan) :: plan
    call plan%create(pattern, in, result, op, alpha, beta, conjugate, threads, backend, stat, errmsg)
    if (c_associated(plan%handle)) call plan%execute(in, result, stat=stat, errmsg=errmsg)
  end subroutine

  subroutine reduce_r8(pattern, in, result, op, alpha, beta, conjugate, threads, backend, stat, errmsg)
    character(*), intent(in) :: pattern
    real(real64), intent(in), contiguous, target :: in(..)
    real(real64), intent(inout), contiguous, target :: result(..)
    integer(c_int), intent(in), optional :: op
    real(real64), intent(in), optional :: alpha, beta
    logical, intent(in), optional :: conjugate
    integer, intent(in), optional :: threads, backend
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(cutt_reduction_plan) :: plan
    call plan%create(pattern, in, result, op, alpha, beta, conjugate, threads, backend, stat, errmsg)
    if (c_associated(plan%handle)) call plan%execute(in, result, stat=stat, errmsg=errmsg)
  end subroutine

  subroutine reduce_c4(pattern, in, result, op, alpha, beta, conjugate, threads, backend, stat, errmsg)
    character(*), intent(in) :: pattern
    complex(real32), intent(in), contiguous, target :: in(..)
    complex(real32), intent(inout), contiguous, target :: result(..)
    integer(c_int), intent(in), optional :: op
    complex(real32), intent(in), optional :: alpha, beta
    logical, intent(in), optional :: conjugate
    integer, intent(in), optional :: threads, backend
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(cutt_reduction_plan) :: plan
    call plan%create(pattern, in, result, op, alpha, beta, conjugate, threads, backend, stat, errmsg)
    if (c_associated(plan%handle)) call plan%execute(in, result, stat=stat, errmsg=errmsg)
  end subroutine

  subroutine reduce_c8(pattern, in, result, op, alpha, beta, conjugate, threads, backend, stat, errmsg)
    character(*), intent(in) :: pattern
    complex(real64), intent(in), contiguous, target :: in(..)
    complex(real64), intent(inout), contiguous, target :: result(..)
    integer(c_int), intent(in), optional :: op
    complex(real64), intent(in), optional :: alpha, beta
    logical, intent(in), optional :: conjugate
    integer, intent(in), optional :: threads, backend
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(cutt_reduction_plan) :: plan
    call plan%create(pattern, in, result, op, alpha, beta, conjugate, threads, backend, stat, errmsg)
    if (c_associated(plan%handle)) call plan%execute(in, result, stat=stat, errmsg=errmsg)
  end subroutine

  subroutine reduce_i4(pattern, in, result, op, alpha, beta, conjugate, threads, backend, stat, errmsg)
    character(*), intent(in) :: pattern
    integer(int32), intent(in), contiguous, target :: in(..)
    integer(int32), intent(inout), contiguous, target :: result(..)
    integer(c_int), intent(in), optional :: op
    integer(int32), intent(in), optional :: alpha, beta
    logical, intent(in), optional :: conjugate
    integer, intent(in), optional :: threads, backend
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(cutt_reduction_plan) :: plan
    call plan%create(pattern, in, result, op, alpha, beta, conjugate, threads, backend, stat, errmsg)
    if (c_associated(plan%handle)) call plan%execute(in, result, stat=stat, errmsg=errmsg)
  end subroutine

  subroutine reduce_i8(pattern, in, result, op, alpha, beta, conjugate, threads, backend, stat, errmsg)
    character(*), intent(in) :: pattern
    integer(int64), intent(in), contiguous, target :: in(..)
    integer(int64), intent(inout), contiguous, target :: result(..)
    integer(c_int), intent(in), optional :: op
    integer(int64), intent(in), optional :: alpha, beta
    logical, intent(in), optional :: conjugate
    integer, intent(in), optional :: threads, backend
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(cutt_reduction_plan) :: plan
    call plan%create(pattern, in, result, op, alpha, beta, conjugate, threads, backend, stat, errmsg)
    if (c_associated(plan%handle)) call plan%execute(in, result, stat=stat, errmsg=errmsg)
  end subroutine

end module
