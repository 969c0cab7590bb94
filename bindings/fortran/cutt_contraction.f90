! Contraction of Fortran arrays, result = alpha * left * right + beta * result, by libcutt_contract.
!
!   use cutt_contraction
!   call cutt_contract('abc,cd->abd', left, right, result)
!   call cutt_contract('D(a,b,d)+=L(a,b,c)*R(c,d)', left, right, result)
!
!   type(cutt_contraction_plan) :: plan              ! planned once, executed any number of times
!   call plan%create('abc,cd->abd', left, right, result, threads=1)
!   call plan%execute(left, right, result)
!
! The first letter of each group is the first subscript: patterns are as the arrays lie, and nothing is reversed. Arrays are
! of any rank up to 15, scalars too, real or complex in single or double precision, all three alike. Sections, stat and
! errmsg, and backend are as in the module cutt.
module cutt_contraction
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: real32, real64
  use cutt_raw
  use cutt, only: cutt_address, cutt_finish, cutt_string
  implicit none
  private
  public :: cutt_contract, cutt_contraction_plan, cutt_providers, CUTT_NO_LIMIT
  public :: CUTT_OP_ADD, CUTT_OP_MULTIPLY, CUTT_OP_MAX, CUTT_OP_MIN

  integer, parameter :: most = 15 ! the largest rank of a Fortran array

  ! A plan: created again, destroyed and not assigned as a cutt_plan is.
  type :: cutt_contraction_plan
    private
    type(c_ptr) :: handle = c_null_ptr
    integer :: rank(3) = 0
    integer(c_int64_t) :: shape(most, 3) = 0
  contains
    procedure, private :: create_r4, create_r8, create_c4, create_c8
    ! create(pattern, left, right, result, alpha, beta, conjugate_left, conjugate_right, threads, backend, workspace_limit,
    ! reduce, stat, errmsg), all from alpha on optional. The arrays give type and shape, and are neither read nor kept. Without beta
    ! it is what the pattern says: 0 but for "+=". workspace_limit: most bytes of workspace, as in cutt_contract.h. reduce:
    ! CUTT_OP_MULTIPLY, CUTT_OP_MAX or CUTT_OP_MIN in the place of the sum.
    generic :: create => create_r4, create_r8, create_c4, create_c8
    procedure :: execute => plan_execute
    procedure :: describe => plan_describe
    procedure :: workspace => plan_workspace
    procedure :: destroy => plan_destroy
    final :: plan_finish
  end type

  ! cutt_contract(pattern, left, right, result, alpha, beta, conjugate_left, conjugate_right, threads, backend,
  ! workspace_limit, reduce, stat, errmsg): create, execute, destroy.
  interface cutt_contract
    module procedure contract_r4, contract_r8, contract_c4, contract_c8
  end interface

contains

  ! The libraries for matrix products that were found, and their speeds, as cuttProvidersDescribe says them.
  function cutt_providers() result(text)
    character(:), allocatable :: text
    character(kind=c_char), allocatable, target :: buffer(:)
    integer(c_size_t) :: needed, again
    integer(c_int) :: code
    text = ''
    if (cuttProvidersDescribe(CUTT_TEXT, c_null_ptr, 0_c_size_t, needed) /= CUTT_SUCCESS) return
    allocate (buffer(needed))
    code = cuttProvidersDescribe(CUTT_TEXT, c_loc(buffer), needed, again)
    if (code == CUTT_SUCCESS) text = cutt_string(c_loc(buffer))
  end function

  subroutine create(this, type, pattern, left, right, result, alpha, beta, conjugate_left, conjugate_right, threads, backend, &
                    workspace_limit, reduce, stat, errmsg)
    class(cutt_contraction_plan), intent(inout) :: this
    integer(c_int), intent(in) :: type
    character(*), intent(in) :: pattern
    integer(c_int64_t), intent(in), target, contiguous :: left(:), right(:), result(:)
    type(c_ptr), intent(in) :: alpha, beta
    logical, intent(in), optional :: conjugate_left, conjugate_right
    integer, intent(in), optional :: threads, backend
    integer(c_size_t), intent(in), optional :: workspace_limit
    integer(c_int), intent(in), optional :: reduce
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
    contraction%left_rank = size(left)
    contraction%right_rank = size(right)
    contraction%result_rank = size(result)
    if (size(left) > 0) contraction%left_extents = c_loc(left)
    if (size(right) > 0) contraction%right_extents = c_loc(right)
    if (size(result) > 0) contraction%result_extents = c_loc(result)
    contraction%alpha = alpha
    contraction%beta = beta
    if (present(conjugate_left)) contraction%conjugate_left = merge(1, 0, conjugate_left)
    if (present(conjugate_right)) contraction%conjugate_right = merge(1, 0, conjugate_right)
    options%struct_size = c_sizeof(options)
    options%backend = CUTT_BACKEND_CPU
    if (present(backend)) options%backend = int(backend, c_int)
    if (present(threads)) options%threads = int(threads, c_int)
    if (present(workspace_limit)) options%workspace_limit = workspace_limit
    if (present(reduce)) contraction%reduce = reduce
    code = cuttContractionPlanCreate(this%handle, contraction, c_loc(options))
    if (code == CUTT_SUCCESS) then
      this%rank = [size(left), size(right), size(result)]
      this%shape(:size(left), 1) = left
      this%shape(:size(right), 2) = right
      this%shape(:size(result), 3) = result
    end if
    call cutt_finish(code, stat=stat, errmsg=errmsg)
  end subroutine

  ! Contracts left and right to result, arrays of the type and shapes that the plan was made for. stream: on a GPU.
  subroutine plan_execute(this, left, right, result, stream, stat, errmsg)
    class(cutt_contraction_plan), intent(in) :: this
    type(*), intent(in), contiguous, target :: left(..), right(..)
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
    else if (.not. same(this, 1, shape(left, c_int64_t)) .or. .not. same(this, 2, shape(right, c_int64_t)) .or. &
             .not. same(this, 3, shape(result, c_int64_t))) then
      call cutt_finish(CUTT_INVALID_PARAMETER, 'left, right or result has another shape than the plan was made for', stat, &
                       errmsg)
    else
      code = cuttContractionExecute(this%handle, c_loc(left), c_loc(right), c_loc(result), c_null_ptr, 0_c_size_t, used)
      call cutt_finish(code, stat=stat, errmsg=errmsg)
    end if
  end subroutine

  pure logical function same(this, which, extents)
    class(cutt_contraction_plan), intent(in) :: this
    integer, intent(in) :: which
    integer(c_int64_t), intent(in) :: extents(:)
    same = size(extents) == this%rank(which)
    if (same) same = all(extents == this%shape(:size(extents), which))
  end function

  ! Bytes of workspace of an execution, which the library takes and frees.
  integer(c_size_t) function plan_workspace(this)
    class(cutt_contraction_plan), intent(in) :: this
    plan_workspace = 0
    if (.not. c_associated(this%handle)) return
    if (cuttContractionWorkspace(this%handle, plan_workspace) /= CUTT_SUCCESS) plan_workspace = 0
  end function

  ! What the plan does, as `cutt plan --contract` says it; "" without a plan.
  function plan_describe(this) result(text)
    class(cutt_contraction_plan), intent(in) :: this
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
    class(cutt_contraction_plan), intent(inout) :: this
    integer(c_int) :: code
    if (c_associated(this%handle)) code = cuttContractionPlanDestroy(this%handle)
    this%handle = c_null_ptr
  end subroutine

  impure elemental subroutine plan_finish(this)
    type(cutt_contraction_plan), intent(inout) :: this
    call this%destroy()
  end subroutine

  ! The same for each type. create asks for the shapes only: sections are not copied.
  subroutine create_r4(this, pattern, left, right, result, alpha, beta, conjugate_left, conjugate_right, threads, backend, &
                       workspace_limit, reduce, stat, errmsg)
    class(cutt_contraction_plan), intent(inout) :: this
    character(*), intent(in) :: pattern
    real(real32), intent(in) :: left(..), right(..), result(..)
    real(real32), intent(in), optional, target :: alpha, beta
    logical, intent(in), optional :: conjugate_left, conjugate_right
    integer, intent(in), optional :: threads, backend
    integer(c_size_t), intent(in), optional :: workspace_limit
    integer(c_int), intent(in), optional :: reduce
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call create(this, CUTT_F32, pattern, shape(left, c_int64_t), shape(right, c_int64_t), shape(result, c_int64_t), &
                cutt_address(alpha), cutt_address(beta), conjugate_left, conjugate_right, threads, backend, workspace_limit, &
                reduce, stat, errmsg)
  end subroutine

  subroutine create_r8(this, pattern, left, right, result, alpha, beta, conjugate_left, conjugate_right, threads, backend, &
                       workspace_limit, reduce, stat, errmsg)
    class(cutt_contraction_plan), intent(inout) :: this
    character(*), intent(in) :: pattern
    real(real64), intent(in) :: left(..), right(..), result(..)
    real(real64), intent(in), optional, target :: alpha, beta
    logical, intent(in), optional :: conjugate_left, conjugate_right
    integer, intent(in), optional :: threads, backend
    integer(c_size_t), intent(in), optional :: workspace_limit
    integer(c_int), intent(in), optional :: reduce
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call create(this, CUTT_F64, pattern, shape(left, c_int64_t), shape(right, c_int64_t), shape(result, c_int64_t), &
                cutt_address(alpha), cutt_address(beta), conjugate_left, conjugate_right, threads, backend, workspace_limit, &
                reduce, stat, errmsg)
  end subroutine

  subroutine create_c4(this, pattern, left, right, result, alpha, beta, conjugate_left, conjugate_right, threads, backend, &
                       workspace_limit, reduce, stat, errmsg)
    class(cutt_contraction_plan), intent(inout) :: this
    character(*), intent(in) :: pattern
    complex(real32), intent(in) :: left(..), right(..), result(..)
    complex(real32), intent(in), optional, target :: alpha, beta
    logical, intent(in), optional :: conjugate_left, conjugate_right
    integer, intent(in), optional :: threads, backend
    integer(c_size_t), intent(in), optional :: workspace_limit
    integer(c_int), intent(in), optional :: reduce
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call create(this, CUTT_C32, pattern, shape(left, c_int64_t), shape(right, c_int64_t), shape(result, c_int64_t), &
                cutt_address(alpha), cutt_address(beta), conjugate_left, conjugate_right, threads, backend, workspace_limit, &
                reduce, stat, errmsg)
  end subroutine

  subroutine create_c8(this, pattern, left, right, result, alpha, beta, conjugate_left, conjugate_right, threads, backend, &
                       workspace_limit, reduce, stat, errmsg)
    class(cutt_contraction_plan), intent(inout) :: this
    character(*), intent(in) :: pattern
    complex(real64), intent(in) :: left(..), right(..), result(..)
    complex(real64), intent(in), optional, target :: alpha, beta
    logical, intent(in), optional :: conjugate_left, conjugate_right
    integer, intent(in), optional :: threads, backend
    integer(c_size_t), intent(in), optional :: workspace_limit
    integer(c_int), intent(in), optional :: reduce
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call create(this, CUTT_C64, pattern, shape(left, c_int64_t), shape(right, c_int64_t), shape(result, c_int64_t), &
                cutt_address(alpha), cutt_address(beta), conjugate_left, conjugate_right, threads, backend, workspace_limit, &
                reduce, stat, errmsg)
  end subroutine

  subroutine contract_r4(pattern, left, right, result, alpha, beta, conjugate_left, conjugate_right, threads, backend, &
                         workspace_limit, reduce, stat, errmsg)
    character(*), intent(in) :: pattern
    real(real32), intent(in), contiguous, target :: left(..), right(..)
    real(real32), intent(inout), contiguous, target :: result(..)
    real(real32), intent(in), optional :: alpha, beta
    logical, intent(in), optional :: conjugate_left, conjugate_right
    integer, intent(in), optional :: threads, backend
    integer(c_size_t), intent(in), optional :: workspace_limit
    integer(c_int), intent(in), optional :: reduce
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(cutt_contraction_plan) :: plan
    call plan%create(pattern, left, right, result, alpha, beta, conjugate_left, conjugate_right, threads, backend, &
                     workspace_limit, reduce, stat, errmsg)
    if (c_associated(plan%handle)) call plan%execute(left, right, result, stat=stat, errmsg=errmsg)
  end subroutine

  subroutine contract_r8(pattern, left, right, result, alpha, beta, conjugate_left, conjugate_right, threads, backend, &
                         workspace_limit, reduce, stat, errmsg)
    character(*), intent(in) :: pattern
    real(real64), intent(in), contiguous, target :: left(..), right(..)
    real(real64), intent(inout), contiguous, target :: result(..)
    real(real64), intent(in), optional :: alpha, beta
    logical, intent(in), optional :: conjugate_left, conjugate_right
    integer, intent(in), optional :: threads, backend
    integer(c_size_t), intent(in), optional :: workspace_limit
    integer(c_int), intent(in), optional :: reduce
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(cutt_contraction_plan) :: plan
    call plan%create(pattern, left, right, result, alpha, beta, conjugate_left, conjugate_right, threads, backend, &
                     workspace_limit, reduce, stat, errmsg)
    if (c_associated(plan%handle)) call plan%execute(left, right, result, stat=stat, errmsg=errmsg)
  end subroutine

  subroutine contract_c4(pattern, left, right, result, alpha, beta, conjugate_left, conjugate_right, threads, backend, &
                         workspace_limit, reduce, stat, errmsg)
    character(*), intent(in) :: pattern
    complex(real32), intent(in), contiguous, target :: left(..), right(..)
    complex(real32), intent(inout), contiguous, target :: result(..)
    complex(real32), intent(in), optional :: alpha, beta
    logical, intent(in), optional :: conjugate_left, conjugate_right
    integer, intent(in), optional :: threads, backend
    integer(c_size_t), intent(in), optional :: workspace_limit
    integer(c_int), intent(in), optional :: reduce
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(cutt_contraction_plan) :: plan
    call plan%create(pattern, left, right, result, alpha, beta, conjugate_left, conjugate_right, threads, backend, &
                     workspace_limit, reduce, stat, errmsg)
    if (c_associated(plan%handle)) call plan%execute(left, right, result, stat=stat, errmsg=errmsg)
  end subroutine

  subroutine contract_c8(pattern, left, right, result, alpha, beta, conjugate_left, conjugate_right, threads, backend, &
                         workspace_limit, reduce, stat, errmsg)
    character(*), intent(in) :: pattern
    complex(real64), intent(in), contiguous, target :: left(..), right(..)
    complex(real64), intent(inout), contiguous, target :: result(..)
    complex(real64), intent(in), optional :: alpha, beta
    logical, intent(in), optional :: conjugate_left, conjugate_right
    integer, intent(in), optional :: threads, backend
    integer(c_size_t), intent(in), optional :: workspace_limit
    integer(c_int), intent(in), optional :: reduce
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(cutt_contraction_plan) :: plan
    call plan%create(pattern, left, right, result, alpha, beta, conjugate_left, conjugate_right, threads, backend, &
                     workspace_limit, reduce, stat, errmsg)
    if (c_associated(plan%handle)) call plan%execute(left, right, result, stat=stat, errmsg=errmsg)
  end subroutine
end module
