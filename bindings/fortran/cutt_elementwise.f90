! Elementwise operations on Fortran arrays, result = (alpha * a op beta * b) op2 gamma * c, each permuted and broadcast, by
! libcutt_contract.
!
!   use cutt_elementwise
!   call cutt_combine('ij,ji->ij', a, b, d, alpha=0.5_real64, beta=0.5_real64)
!   call cutt_combine('ijk,kij,j->ijk', a, b, d, c, op=CUTT_OP_MULTIPLY, op2=CUTT_OP_MAX)
!
!   type(cutt_elementwise_plan) :: plan              ! planned once, executed any number of times
!   call plan%create('ij,ji->ij', a, b, d)
!   call plan%execute(a, b, d)
!
! The first letter of each group is the first subscript. Arrays are of any rank up to 15, scalars too, all of one type: real or
! complex in single or double precision, or integer of 4 or 8 bytes. Operators are CUTT_OP_ADD (also by default), CUTT_OP_MULTIPLY,
! CUTT_OP_MAX and CUTT_OP_MIN. Sections, stat and errmsg, and backend are as in the module cutt.
module cutt_elementwise
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use cutt_raw
  use cutt, only: cutt_address, cutt_finish, cutt_string
  implicit none
  private
  public :: cutt_combine, cutt_elementwise_plan, CUTT_OP_ADD, CUTT_OP_MULTIPLY, CUTT_OP_MAX, CUTT_OP_MIN

  integer, parameter :: most = 15 ! the largest rank of a Fortran array

  ! A plan: created again, destroyed and not assigned as a cutt_plan is.
  type :: cutt_elementwise_plan
    private
    type(c_ptr) :: handle = c_null_ptr
    logical :: three = .false.
    integer :: rank(4) = 0 ! of a, b, result, c
    integer(c_int64_t) :: shape(most, 4) = 0
  contains
    procedure, private :: create_r4, create_r8, create_c4, create_c8, create_i4, create_i8
    ! create(pattern, a, b, result, c, op, op2, alpha, beta, gamma, conjugate_a, conjugate_b, conjugate_c, threads, backend,
    ! stat, errmsg), all from c on optional. The arrays give type and shape, and are neither read nor kept.
    generic :: create => create_r4, create_r8, create_c4, create_c8, create_i4, create_i8
    procedure :: execute => plan_execute
    procedure :: describe => plan_describe
    procedure :: destroy => plan_destroy
    final :: plan_finish
  end type

  ! cutt_combine(pattern, a, b, result, c, op, op2, alpha, beta, gamma, conjugate_a, conjugate_b, conjugate_c, threads, backend,
  ! stat, errmsg): create, execute, destroy.
  interface cutt_combine
    module procedure combine_r4, combine_r8, combine_c4, combine_c8, combine_i4, combine_i8
  end interface

  ! What all types have in common.
  type :: asked
    integer(c_int) :: type = 0, op = CUTT_OP_ADD, op2 = CUTT_OP_ADD, threads = 0, backend = CUTT_BACKEND_CPU
    logical :: three = .false., conjugate(3) = .false.
    type(c_ptr) :: scalar(3) = c_null_ptr
  end type

contains

  ! Everything but the shapes and the scalars.
  type(asked) function ask(type, op, op2, conjugate_a, conjugate_b, conjugate_c, threads, backend)
    integer(c_int), intent(in) :: type
    integer(c_int), intent(in), optional :: op, op2
    logical, intent(in), optional :: conjugate_a, conjugate_b, conjugate_c
    integer, intent(in), optional :: threads, backend
    ask%type = type
    if (present(op)) ask%op = op
    if (present(op2)) ask%op2 = op2
    if (present(conjugate_a)) ask%conjugate(1) = conjugate_a
    if (present(conjugate_b)) ask%conjugate(2) = conjugate_b
    if (present(conjugate_c)) ask%conjugate(3) = conjugate_c
    if (present(threads)) ask%threads = int(threads, c_int)
    if (present(backend)) ask%backend = int(backend, c_int)
  end function

  ! shapes: of a, b and the result, and of c if there is one.
  subroutine create(this, pattern, asks, a, b, result, c, stat, errmsg)
    class(cutt_elementwise_plan), intent(inout) :: this
    character(*), intent(in) :: pattern
    type(asked), intent(in) :: asks
    integer(c_int64_t), intent(in), target, contiguous :: a(:), b(:), result(:), c(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(kind=c_char), target :: pattern_c(len_trim(pattern) + 1)
    type(cuttElementwise_t) :: elementwise
    type(cuttElementwiseOptions_t), target :: options
    integer(c_int) :: code
    integer :: i
    call this%destroy()
    do i = 1, len_trim(pattern)
      pattern_c(i) = pattern(i:i)
    end do
    pattern_c(size(pattern_c)) = c_null_char
    elementwise%struct_size = c_sizeof(elementwise)
    elementwise%pattern = c_loc(pattern_c)
    elementwise%type = asks%type
    elementwise%a_rank = size(a)
    elementwise%b_rank = size(b)
    elementwise%c_rank = size(c)
    elementwise%result_rank = size(result)
    if (size(a) > 0) elementwise%a_extents = c_loc(a)
    if (size(b) > 0) elementwise%b_extents = c_loc(b)
    if (size(c) > 0) elementwise%c_extents = c_loc(c)
    if (size(result) > 0) elementwise%result_extents = c_loc(result)
    elementwise%alpha = asks%scalar(1)
    elementwise%beta = asks%scalar(2)
    elementwise%gamma = asks%scalar(3)
    elementwise%conjugate_a = merge(1, 0, asks%conjugate(1))
    elementwise%conjugate_b = merge(1, 0, asks%conjugate(2))
    elementwise%conjugate_c = merge(1, 0, asks%conjugate(3))
    elementwise%op_ab = asks%op
    elementwise%op_abc = asks%op2
    options%struct_size = c_sizeof(options)
    options%backend = asks%backend
    options%threads = asks%threads
    code = cuttElementwisePlanCreate(this%handle, elementwise, c_loc(options))
    if (code == CUTT_SUCCESS) then
      this%three = asks%three
      this%rank = [size(a), size(b), size(result), size(c)]
      this%shape(:size(a), 1) = a
      this%shape(:size(b), 2) = b
      this%shape(:size(result), 3) = result
      this%shape(:size(c), 4) = c
    end if
    call cutt_finish(code, stat=stat, errmsg=errmsg)
  end subroutine

  ! Combines a and b, and c if the plan was made with one, to result: arrays of the type and shapes that it was made for.
  ! stream: on a GPU.
  subroutine plan_execute(this, a, b, result, c, stream, stat, errmsg)
    class(cutt_elementwise_plan), intent(in) :: this
    type(*), intent(in), contiguous, target :: a(..), b(..)
    type(*), intent(inout), contiguous, target :: result(..)
    type(*), intent(in), contiguous, target, optional :: c(..)
    type(c_ptr), intent(in), optional :: stream
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: used, third
    integer(c_int) :: code
    logical :: fits
    used = c_null_ptr
    third = c_null_ptr
    if (present(stream)) used = stream
    if (.not. c_associated(this%handle)) then
      call cutt_finish(CUTT_INVALID_PLAN, 'the plan has not been created', stat, errmsg)
      return
    end if
    if (this%three .neqv. present(c)) then
      call cutt_finish(CUTT_INVALID_PARAMETER, 'c is given to a plan of two operands, or missing for one of three', stat, errmsg)
      return
    end if
    fits = same(this, 1, shape(a, c_int64_t)) .and. same(this, 2, shape(b, c_int64_t)) .and. &
           same(this, 3, shape(result, c_int64_t))
    if (present(c)) then
      fits = fits .and. same(this, 4, shape(c, c_int64_t))
      third = c_loc(c)
    end if
    if (.not. fits) then
      call cutt_finish(CUTT_INVALID_PARAMETER, 'a, b, c or result has another shape than the plan was made for', stat, errmsg)
    else
      code = cuttElementwiseExecute(this%handle, c_loc(a), c_loc(b), third, c_loc(result), used)
      call cutt_finish(code, stat=stat, errmsg=errmsg)
    end if
  end subroutine

  pure logical function same(this, which, extents)
    class(cutt_elementwise_plan), intent(in) :: this
    integer, intent(in) :: which
    integer(c_int64_t), intent(in) :: extents(:)
    same = size(extents) == this%rank(which)
    if (same) same = all(extents == this%shape(:size(extents), which))
  end function

  ! What the plan does; "" without a plan.
  function plan_describe(this) result(text)
    class(cutt_elementwise_plan), intent(in) :: this
    character(:), allocatable :: text
    character(kind=c_char), allocatable, target :: buffer(:)
    integer(c_size_t) :: needed, again
    integer(c_int) :: code
    text = ''
    if (.not. c_associated(this%handle)) return
    if (cuttElementwiseDescribe(this%handle, CUTT_TEXT, c_null_ptr, 0_c_size_t, needed) /= CUTT_SUCCESS) return
    allocate (buffer(needed))
    code = cuttElementwiseDescribe(this%handle, CUTT_TEXT, c_loc(buffer), needed, again)
    if (code == CUTT_SUCCESS) text = cutt_string(c_loc(buffer))
  end function

  subroutine plan_destroy(this)
    class(cutt_elementwise_plan), intent(inout) :: this
    integer(c_int) :: code
    if (c_associated(this%handle)) code = cuttElementwisePlanDestroy(this%handle)
    this%handle = c_null_ptr
  end subroutine

  impure elemental subroutine plan_finish(this)
    type(cutt_elementwise_plan), intent(inout) :: this
    call this%destroy()
  end subroutine

  ! The same for each type. create asks for the shapes only: sections are not copied.
  subroutine create_r4(this, pattern, a, b, result, c, op, op2, alpha, beta, gamma, conjugate_a, conjugate_b, conjugate_c, &
                       threads, backend, stat, errmsg)
    class(cutt_elementwise_plan), intent(inout) :: this
    character(*), intent(in) :: pattern
    real(real32), intent(in) :: a(..), b(..), result(..)
    real(real32), intent(in), optional :: c(..)
    integer(c_int), intent(in), optional :: op, op2
    real(real32), intent(in), optional, target :: alpha, beta, gamma
    logical, intent(in), optional :: conjugate_a, conjugate_b, conjugate_c
    integer, intent(in), optional :: threads, backend
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(asked) :: asks
    asks = ask(CUTT_F32, op, op2, conjugate_a, conjugate_b, conjugate_c, threads, backend)
    asks%scalar = [cutt_address(alpha), cutt_address(beta), cutt_address(gamma)]
    asks%three = present(c)
    if (present(c)) then
      call create(this, pattern, asks, shape(a, c_int64_t), shape(b, c_int64_t), shape(result, c_int64_t), &
                  shape(c, c_int64_t), stat, errmsg)
    else
      call create(this, pattern, asks, shape(a, c_int64_t), shape(b, c_int64_t), shape(result, c_int64_t), &
                  [integer(c_int64_t) ::], stat, errmsg)
    end if
  end subroutine

  subroutine create_r8(this, pattern, a, b, result, c, op, op2, alpha, beta, gamma, conjugate_a, conjugate_b, conjugate_c, &
                       threads, backend, stat, errmsg)
    class(cutt_elementwise_plan), intent(inout) :: this
    character(*), intent(in) :: pattern
    real(real64), intent(in) :: a(..), b(..), result(..)
    real(real64), intent(in), optional :: c(..)
    integer(c_int), intent(in), optional :: op, op2
    real(real64), intent(in), optional, target :: alpha, beta, gamma
    logical, intent(in), optional :: conjugate_a, conjugate_b, conjugate_c
    integer, intent(in), optional :: threads, backend
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(asked) :: asks
    asks = ask(CUTT_F64, op, op2, conjugate_a, conjugate_b, conjugate_c, threads, backend)
    asks%scalar = [cutt_address(alpha), cutt_address(beta), cutt_address(gamma)]
    asks%three = present(c)
    if (present(c)) then
      call create(this, pattern, asks, shape(a, c_int64_t), shape(b, c_int64_t), shape(result, c_int64_t), &
                  shape(c, c_int64_t), stat, errmsg)
    else
      call create(this, pattern, asks, shape(a, c_int64_t), shape(b, c_int64_t), shape(result, c_int64_t), &
                  [integer(c_int64_t) ::], stat, errmsg)
    end if
  end subroutine

  subroutine create_c4(this, pattern, a, b, result, c, op, op2, alpha, beta, gamma, conjugate_a, conjugate_b, conjugate_c, &
                       threads, backend, stat, errmsg)
    class(cutt_elementwise_plan), intent(inout) :: this
    character(*), intent(in) :: pattern
    complex(real32), intent(in) :: a(..), b(..), result(..)
    complex(real32), intent(in), optional :: c(..)
    integer(c_int), intent(in), optional :: op, op2
    complex(real32), intent(in), optional, target :: alpha, beta, gamma
    logical, intent(in), optional :: conjugate_a, conjugate_b, conjugate_c
    integer, intent(in), optional :: threads, backend
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(asked) :: asks
    asks = ask(CUTT_C32, op, op2, conjugate_a, conjugate_b, conjugate_c, threads, backend)
    asks%scalar = [cutt_address(alpha), cutt_address(beta), cutt_address(gamma)]
    asks%three = present(c)
    if (present(c)) then
      call create(this, pattern, asks, shape(a, c_int64_t), shape(b, c_int64_t), shape(result, c_int64_t), &
                  shape(c, c_int64_t), stat, errmsg)
    else
      call create(this, pattern, asks, shape(a, c_int64_t), shape(b, c_int64_t), shape(result, c_int64_t), &
                  [integer(c_int64_t) ::], stat, errmsg)
    end if
  end subroutine

  subroutine create_c8(this, pattern, a, b, result, c, op, op2, alpha, beta, gamma, conjugate_a, conjugate_b, conjugate_c, &
                       threads, backend, stat, errmsg)
    class(cutt_elementwise_plan), intent(inout) :: this
    character(*), intent(in) :: pattern
    complex(real64), intent(in) :: a(..), b(..), result(..)
    complex(real64), intent(in), optional :: c(..)
    integer(c_int), intent(in), optional :: op, op2
    complex(real64), intent(in), optional, target :: alpha, beta, gamma
    logical, intent(in), optional :: conjugate_a, conjugate_b, conjugate_c
    integer, intent(in), optional :: threads, backend
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(asked) :: asks
    asks = ask(CUTT_C64, op, op2, conjugate_a, conjugate_b, conjugate_c, threads, backend)
    asks%scalar = [cutt_address(alpha), cutt_address(beta), cutt_address(gamma)]
    asks%three = present(c)
    if (present(c)) then
      call create(this, pattern, asks, shape(a, c_int64_t), shape(b, c_int64_t), shape(result, c_int64_t), &
                  shape(c, c_int64_t), stat, errmsg)
    else
      call create(this, pattern, asks, shape(a, c_int64_t), shape(b, c_int64_t), shape(result, c_int64_t), &
                  [integer(c_int64_t) ::], stat, errmsg)
    end if
  end subroutine

  subroutine create_i4(this, pattern, a, b, result, c, op, op2, alpha, beta, gamma, conjugate_a, conjugate_b, conjugate_c, &
                       threads, backend, stat, errmsg)
    class(cutt_elementwise_plan), intent(inout) :: this
    character(*), intent(in) :: pattern
    integer(int32), intent(in) :: a(..), b(..), result(..)
    integer(int32), intent(in), optional :: c(..)
    integer(c_int), intent(in), optional :: op, op2
    integer(int32), intent(in), optional, target :: alpha, beta, gamma
    logical, intent(in), optional :: conjugate_a, conjugate_b, conjugate_c
    integer, intent(in), optional :: threads, backend
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(asked) :: asks
    asks = ask(CUTT_I32, op, op2, conjugate_a, conjugate_b, conjugate_c, threads, backend)
    asks%scalar = [cutt_address(alpha), cutt_address(beta), cutt_address(gamma)]
    asks%three = present(c)
    if (present(c)) then
      call create(this, pattern, asks, shape(a, c_int64_t), shape(b, c_int64_t), shape(result, c_int64_t), &
                  shape(c, c_int64_t), stat, errmsg)
    else
      call create(this, pattern, asks, shape(a, c_int64_t), shape(b, c_int64_t), shape(result, c_int64_t), &
                  [integer(c_int64_t) ::], stat, errmsg)
    end if
  end subroutine

  subroutine create_i8(this, pattern, a, b, result, c, op, op2, alpha, beta, gamma, conjugate_a, conjugate_b, conjugate_c, &
                       threads, backend, stat, errmsg)
    class(cutt_elementwise_plan), intent(inout) :: this
    character(*), intent(in) :: pattern
    integer(int64), intent(in) :: a(..), b(..), result(..)
    integer(int64), intent(in), optional :: c(..)
    integer(c_int), intent(in), optional :: op, op2
    integer(int64), intent(in), optional, target :: alpha, beta, gamma
    logical, intent(in), optional :: conjugate_a, conjugate_b, conjugate_c
    integer, intent(in), optional :: threads, backend
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(asked) :: asks
    asks = ask(CUTT_I64, op, op2, conjugate_a, conjugate_b, conjugate_c, threads, backend)
    asks%scalar = [cutt_address(alpha), cutt_address(beta), cutt_address(gamma)]
    asks%three = present(c)
    if (present(c)) then
      call create(this, pattern, asks, shape(a, c_int64_t), shape(b, c_int64_t), shape(result, c_int64_t), &
                  shape(c, c_int64_t), stat, errmsg)
    else
      call create(this, pattern, asks, shape(a, c_int64_t), shape(b, c_int64_t), shape(result, c_int64_t), &
                  [integer(c_int64_t) ::], stat, errmsg)
    end if
  end subroutine

  subroutine combine_r4(pattern, a, b, result, c, op, op2, alpha, beta, gamma, conjugate_a, conjugate_b, conjugate_c, threads, &
                        backend, stat, errmsg)
    character(*), intent(in) :: pattern
    real(real32), intent(in), contiguous, target :: a(..), b(..)
    real(real32), intent(inout), contiguous, target :: result(..)
    real(real32), intent(in), contiguous, target, optional :: c(..)
    integer(c_int), intent(in), optional :: op, op2
    real(real32), intent(in), optional :: alpha, beta, gamma
    logical, intent(in), optional :: conjugate_a, conjugate_b, conjugate_c
    integer, intent(in), optional :: threads, backend
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(cutt_elementwise_plan) :: plan
    call plan%create(pattern, a, b, result, c, op, op2, alpha, beta, gamma, conjugate_a, conjugate_b, conjugate_c, threads, &
                     backend, stat, errmsg)
    if (c_associated(plan%handle)) call plan%execute(a, b, result, c, stat=stat, errmsg=errmsg)
  end subroutine

  subroutine combine_r8(pattern, a, b, result, c, op, op2, alpha, beta, gamma, conjugate_a, conjugate_b, conjugate_c, threads, &
                        backend, stat, errmsg)
    character(*), intent(in) :: pattern
    real(real64), intent(in), contiguous, target :: a(..), b(..)
    real(real64), intent(inout), contiguous, target :: result(..)
    real(real64), intent(in), contiguous, target, optional :: c(..)
    integer(c_int), intent(in), optional :: op, op2
    real(real64), intent(in), optional :: alpha, beta, gamma
    logical, intent(in), optional :: conjugate_a, conjugate_b, conjugate_c
    integer, intent(in), optional :: threads, backend
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(cutt_elementwise_plan) :: plan
    call plan%create(pattern, a, b, result, c, op, op2, alpha, beta, gamma, conjugate_a, conjugate_b, conjugate_c, threads, &
                     backend, stat, errmsg)
    if (c_associated(plan%handle)) call plan%execute(a, b, result, c, stat=stat, errmsg=errmsg)
  end subroutine

  subroutine combine_c4(pattern, a, b, result, c, op, op2, alpha, beta, gamma, conjugate_a, conjugate_b, conjugate_c, threads, &
                        backend, stat, errmsg)
    character(*), intent(in) :: pattern
    complex(real32), intent(in), contiguous, target :: a(..), b(..)
    complex(real32), intent(inout), contiguous, target :: result(..)
    complex(real32), intent(in), contiguous, target, optional :: c(..)
    integer(c_int), intent(in), optional :: op, op2
    complex(real32), intent(in), optional :: alpha, beta, gamma
    logical, intent(in), optional :: conjugate_a, conjugate_b, conjugate_c
    integer, intent(in), optional :: threads, backend
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(cutt_elementwise_plan) :: plan
    call plan%create(pattern, a, b, result, c, op, op2, alpha, beta, gamma, conjugate_a, conjugate_b, conjugate_c, threads, &
                     backend, stat, errmsg)
    if (c_associated(plan%handle)) call plan%execute(a, b, result, c, stat=stat, errmsg=errmsg)
  end subroutine

  subroutine combine_c8(pattern, a, b, result, c, op, op2, alpha, beta, gamma, conjugate_a, conjugate_b, conjugate_c, threads, &
                        backend, stat, errmsg)
    character(*), intent(in) :: pattern
    complex(real64), intent(in), contiguous, target :: a(..), b(..)
    complex(real64), intent(inout), contiguous, target :: result(..)
    complex(real64), intent(in), contiguous, target, optional :: c(..)
    integer(c_int), intent(in), optional :: op, op2
    complex(real64), intent(in), optional :: alpha, beta, gamma
    logical, intent(in), optional :: conjugate_a, conjugate_b, conjugate_c
    integer, intent(in), optional :: threads, backend
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(cutt_elementwise_plan) :: plan
    call plan%create(pattern, a, b, result, c, op, op2, alpha, beta, gamma, conjugate_a, conjugate_b, conjugate_c, threads, &
                     backend, stat, errmsg)
    if (c_associated(plan%handle)) call plan%execute(a, b, result, c, stat=stat, errmsg=errmsg)
  end subroutine

  subroutine combine_i4(pattern, a, b, result, c, op, op2, alpha, beta, gamma, conjugate_a, conjugate_b, conjugate_c, threads, &
                        backend, stat, errmsg)
    character(*), intent(in) :: pattern
    integer(int32), intent(in), contiguous, target :: a(..), b(..)
    integer(int32), intent(inout), contiguous, target :: result(..)
    integer(int32), intent(in), contiguous, target, optional :: c(..)
    integer(c_int), intent(in), optional :: op, op2
    integer(int32), intent(in), optional :: alpha, beta, gamma
    logical, intent(in), optional :: conjugate_a, conjugate_b, conjugate_c
    integer, intent(in), optional :: threads, backend
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(cutt_elementwise_plan) :: plan
    call plan%create(pattern, a, b, result, c, op, op2, alpha, beta, gamma, conjugate_a, conjugate_b, conjugate_c, threads, &
                     backend, stat, errmsg)
    if (c_associated(plan%handle)) call plan%execute(a, b, result, c, stat=stat, errmsg=errmsg)
  end subroutine

  subroutine combine_i8(pattern, a, b, result, c, op, op2, alpha, beta, gamma, conjugate_a, conjugate_b, conjugate_c, threads, &
                        backend, stat, errmsg)
    character(*), intent(in) :: pattern
    integer(int64), intent(in), contiguous, target :: a(..), b(..)
    integer(int64), intent(inout), contiguous, target :: result(..)
    integer(int64), intent(in), contiguous, target, optional :: c(..)
    integer(c_int), intent(in), optional :: op, op2
    integer(int64), intent(in), optional :: alpha, beta, gamma
    logical, intent(in), optional :: conjugate_a, conjugate_b, conjugate_c
    integer, intent(in), optional :: threads, backend
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(cutt_elementwise_plan) :: plan
    call plan%create(pattern, a, b, result, c, op, op2, alpha, beta, gamma, conjugate_a, conjugate_b, conjugate_c, threads, &
                     backend, stat, errmsg)
    if (c_associated(plan%handle)) call plan%execute(a, b, result, c, stat=stat, errmsg=errmsg)
  end subroutine

end module
