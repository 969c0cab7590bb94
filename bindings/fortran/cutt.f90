! Permutation of Fortran arrays, out = alpha * permuted(in) + beta * out, by libcutt.
!
!   use cutt
!   call cutt_permute(a, b, [3, 1, 2])           ! b(k, i, j) = a(i, j, k)
!
!   type(cutt_plan) :: plan                      ! planned once, executed any number of times
!   call plan%create(a, b, [3, 1, 2], threads=1)
!   call plan%execute(a, b)
!
! Arrays are of any rank up to 15 and of real, complex (single and double precision) or integer (4 and 8 bytes). Modes are
! as they lie, the first subscript fastest, and nothing is reversed. Mode i of out is mode perm(i) of in, counted from 1; so
! shape(out) is shape(in), taken in the order perm, and out(i_perm(1), ...) = in(i_1, ...). An array section that is not
! contiguous is copied by the compiler, before the call and (out) after it; sub-tensors without a copy go through strides,
! as in C (module cutt_raw).
!
! Failures are reported as those of ALLOCATE: to stat and errmsg, or, without stat, by stopping the program with the text.
! Plans are for the CPU unless backend says otherwise, since that is where Fortran's arrays are; on a GPU the arrays must
! be in memory that it can reach (use_device_ptr of OpenMP, host_data of OpenACC, device arrays of CUDA Fortran).
module cutt
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use cutt_raw
  implicit none
  private
  public :: cutt_permute, cutt_plan, cutt_last_error, cutt_version, cutt_devices
  public :: CUTT_SUCCESS, CUTT_INVALID_PLAN, CUTT_INVALID_PARAMETER, CUTT_INVALID_DEVICE, CUTT_INTERNAL_ERROR
  public :: CUTT_BACKEND_AUTO, CUTT_BACKEND_CPU, CUTT_BACKEND_CUDA
  public :: cutt_address, cutt_finish, cutt_string ! for the modules cutt_contraction and cutt_dist

  integer, parameter :: most = 15 ! the largest rank of a Fortran array

  ! A plan. It may be created again, and is destroyed when it goes out of scope; it is not to be assigned, since both
  ! copies would then be destroyed.
  type :: cutt_plan
    private
    type(c_ptr) :: handle = c_null_ptr
    integer :: rank = 0
    integer(c_int64_t) :: in_shape(most) = 0, out_shape(most) = 0
  contains
    procedure, private :: create_r4, create_r8, create_c4, create_c8, create_i4, create_i8
    ! create(in, out, perm, alpha, beta, conjugate, threads, backend, measure, stat, errmsg), all from alpha on optional.
    ! in and out give type and shape, and are neither read nor kept. alpha and beta are of their type (1 and 0);
    ! conjugate is for complex arrays; threads=0 are those that OpenMP would use; measure=.true. times the candidates.
    generic :: create => create_r4, create_r8, create_c4, create_c8, create_i4, create_i8
    procedure :: execute => plan_execute
    procedure :: execute_batch => plan_execute_batch
    procedure :: describe => plan_describe
    procedure :: destroy => plan_destroy
    final :: plan_finish
  end type

  ! cutt_permute(in, out, perm, alpha, beta, conjugate, threads, backend, stat, errmsg): create, execute, destroy.
  interface cutt_permute
    module procedure permute_r4, permute_r8, permute_c4, permute_c8, permute_i4, permute_i8
  end interface

contains

  ! The text of the last failure, as cuttLastError gives it, or "".
  function cutt_last_error() result(text)
    character(:), allocatable :: text
    text = cutt_string(cuttLastError())
  end function

  ! major * 10000 + minor * 100 + patch of the library.
  integer function cutt_version()
    cutt_version = int(cuttVersion())
  end function

  ! What there is to run on, as `cutt devices` says it.
  function cutt_devices() result(text)
    character(:), allocatable :: text
    character(kind=c_char), allocatable, target :: buffer(:)
    integer(c_size_t) :: needed, again
    integer(c_int) :: code
    code = cuttDevicesDescribe(CUTT_TEXT, c_null_ptr, 0_c_size_t, needed)
    allocate (buffer(needed))
    if (code == CUTT_SUCCESS) code = cuttDevicesDescribe(CUTT_TEXT, c_loc(buffer), needed, again)
    text = ''
    if (code == CUTT_SUCCESS) text = cutt_string(c_loc(buffer))
  end function

  ! A string of C as one of Fortran.
  function cutt_string(from) result(text)
    type(c_ptr), intent(in) :: from
    character(:), allocatable :: text
    character(kind=c_char), pointer :: characters(:)
    integer :: length
    if (.not. c_associated(from)) then
      text = ''
      return
    end if
    call c_f_pointer(from, characters, [huge(0)])
    length = 0
    do while (characters(length + 1) /= c_null_char)
      length = length + 1
    end do
    allocate (character(length) :: text)
    block
      integer :: i
      do i = 1, length
        text(i:i) = characters(i)
      end do
    end block
  end function

  ! How every call ends: the result to stat and errmsg, or the end of the program. Without text it is the library's.
  subroutine cutt_finish(code, text, stat, errmsg)
    integer(c_int), intent(in) :: code
    character(*), intent(in), optional :: text
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(:), allocatable :: said
    if (present(stat)) stat = int(code)
    if (code == CUTT_SUCCESS) return
    if (present(text)) then
      said = text
    else
      said = cutt_last_error()
    end if
    if (present(errmsg)) errmsg = said
    if (.not. present(stat)) error stop 'cutt: '//said
  end subroutine

  pure function decimal(number) result(text)
    integer(c_int64_t), intent(in) :: number
    character(:), allocatable :: text
    character(24) :: buffer
    write (buffer, '(i0)') number
    text = trim(buffer)
  end function

  ! What is wrong with perm and the two shapes, in Fortran's counting, or "".
  function complaint(in_shape, out_shape, perm) result(text)
    integer(c_int64_t), intent(in) :: in_shape(:), out_shape(:)
    integer, intent(in) :: perm(:)
    character(:), allocatable :: text
    integer :: i
    text = ''
    if (size(in_shape) /= size(out_shape)) then
      text = 'in has rank '//decimal(size(in_shape, kind=c_int64_t))//' and out has rank '// &
        decimal(size(out_shape, kind=c_int64_t))//'; they must be the same'
    else if (size(perm) /= size(in_shape)) then
      text = 'perm has '//decimal(size(perm, kind=c_int64_t))//' entries; it must have one for each of the '// &
        decimal(size(in_shape, kind=c_int64_t))//' modes'
    else
      do i = 1, size(perm)
        if (perm(i) < 1 .or. perm(i) > size(perm) .or. any(perm(:i - 1) == perm(i))) then
          text = 'perm('//decimal(int(i, c_int64_t))//') is '//decimal(int(perm(i), c_int64_t))//'; each of 1 to '// &
            decimal(size(perm, kind=c_int64_t))//' must be there once'
          return
        end if
      end do
      do i = 1, size(perm)
        if (out_shape(i) /= in_shape(perm(i))) then
          text = 'extent '//decimal(int(i, c_int64_t))//' of out is '//decimal(out_shape(i))//'; it must be '// &
            decimal(in_shape(perm(i)))//', as extent '//decimal(int(perm(i), c_int64_t))//' of in'
          return
        end if
      end do
    end if
  end function

  subroutine create(this, type, in_shape, out_shape, perm, alpha, beta, conjugate, threads, backend, measure, stat, errmsg)
    class(cutt_plan), intent(inout) :: this
    integer(c_int), intent(in) :: type
    integer(c_int64_t), intent(in), target, contiguous :: in_shape(:)
    integer(c_int64_t), intent(in) :: out_shape(:)
    integer, intent(in) :: perm(:)
    type(c_ptr), intent(in) :: alpha, beta
    logical, intent(in), optional :: conjugate, measure
    integer, intent(in), optional :: threads, backend
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int), target :: perm_from_0(most)
    type(cuttProblem_t) :: problem
    type(cuttOptions_t), target :: options
    integer(c_int) :: code
    character(:), allocatable :: text
    call this%destroy()
    text = complaint(in_shape, out_shape, perm)
    code = CUTT_INVALID_PARAMETER
    if (len(text) == 0) then
      perm_from_0(:size(perm)) = int(perm - 1, c_int)
      problem%struct_size = c_sizeof(problem)
      problem%rank = size(perm)
      problem%type = type
      problem%extents = c_loc(in_shape)
      problem%perm = c_loc(perm_from_0)
      problem%alpha = alpha
      problem%beta = beta
      if (present(conjugate)) problem%conjugate = merge(1, 0, conjugate)
      options%struct_size = c_sizeof(options)
      options%backend = CUTT_BACKEND_CPU
      if (present(backend)) options%backend = int(backend, c_int)
      if (present(threads)) options%threads = int(threads, c_int)
      if (present(measure)) options%choice = merge(CUTT_MEASURE, CUTT_PREDICT, measure)
      code = cuttPlanCreate(this%handle, problem, c_loc(options))
      if (code /= CUTT_SUCCESS) text = cutt_last_error()
    end if
    if (code == CUTT_SUCCESS) then
      this%rank = size(perm)
      this%in_shape(:this%rank) = in_shape
      this%out_shape(:this%rank) = out_shape
    end if
    call cutt_finish(code, text, stat, errmsg)
  end subroutine

  ! Permutes in to out, arrays of the type and shape that the plan was made for. stream: on a GPU.
  subroutine plan_execute(this, in, out, stream, stat, errmsg)
    class(cutt_plan), intent(in) :: this
    type(*), intent(in), contiguous, target :: in(..)
    type(*), intent(inout), contiguous, target :: out(..)
    type(c_ptr), intent(in), optional :: stream
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: used
    integer(c_int) :: code
    used = c_null_ptr
    if (present(stream)) used = stream
    if (.not. c_associated(this%handle)) then
      call cutt_finish(CUTT_INVALID_PLAN, 'the plan has not been created', stat, errmsg)
    else if (.not. same(shape(in, c_int64_t), this%in_shape(:this%rank)) .or. &
             .not. same(shape(out, c_int64_t), this%out_shape(:this%rank))) then
      call cutt_finish(CUTT_INVALID_PARAMETER, 'in or out has another shape than the plan was made for', stat, errmsg)
    else
      code = cuttPlanExecute(this%handle, c_loc(in), c_loc(out), used)
      call cutt_finish(code, stat=stat, errmsg=errmsg)
    end if
  end subroutine

  ! Permutes many arrays by one call: in(i) to out(i), each the address (c_loc) of a contiguous array of the type and shape that
  ! the plan was made for, which is not checked. No out(i) may overlap another array.
  subroutine plan_execute_batch(this, in, out, stream, stat, errmsg)
    class(cutt_plan), intent(in) :: this
    type(c_ptr), intent(in) :: in(:), out(:)
    type(c_ptr), intent(in), optional :: stream
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: used
    integer(c_int) :: code
    used = c_null_ptr
    if (present(stream)) used = stream
    if (.not. c_associated(this%handle)) then
      call cutt_finish(CUTT_INVALID_PLAN, 'the plan has not been created', stat, errmsg)
    else if (size(in) /= size(out)) then
      call cutt_finish(CUTT_INVALID_PARAMETER, 'in has '//decimal(size(in, kind=c_int64_t))//' addresses and out has '// &
                       decimal(size(out, kind=c_int64_t))//'; they must be as many', stat, errmsg)
    else
      code = cuttPlanExecuteBatch(this%handle, size(in, kind=c_int64_t), in, out, used)
      call cutt_finish(code, stat=stat, errmsg=errmsg)
    end if
  end subroutine

  pure logical function same(a, b)
    integer(c_int64_t), intent(in) :: a(:), b(:)
    same = size(a) == size(b)
    if (same) same = all(a == b)
  end function

  ! What the plan does and why, as `cutt plan` says it; "" without a plan.
  function plan_describe(this) result(text)
    class(cutt_plan), intent(in) :: this
    character(:), allocatable :: text
    character(kind=c_char), allocatable, target :: buffer(:)
    integer(c_size_t) :: needed, again
    text = ''
    if (.not. c_associated(this%handle)) return
    if (cuttPlanDescribe(this%handle, CUTT_TEXT, c_null_ptr, 0_c_size_t, needed) /= CUTT_SUCCESS) return
    allocate (buffer(needed))
    if (cuttPlanDescribe(this%handle, CUTT_TEXT, c_loc(buffer), needed, again) == CUTT_SUCCESS) text = cutt_string(c_loc(buffer))
  end function

  subroutine plan_destroy(this)
    class(cutt_plan), intent(inout) :: this
    integer(c_int) :: code
    if (c_associated(this%handle)) code = cuttPlanDestroy(this%handle)
    this%handle = c_null_ptr
  end subroutine

  impure elemental subroutine plan_finish(this)
    type(cutt_plan), intent(inout) :: this
    call this%destroy()
  end subroutine

  ! c_loc of what may be absent.
  function cutt_address(scalar) result(where)
    type(*), intent(in), optional, target :: scalar
    type(c_ptr) :: where
    where = c_null_ptr
    if (present(scalar)) where = c_loc(scalar)
  end function

  ! The same for each type. create asks for the shapes only: sections are not copied.
  subroutine create_r4(this, in, out, perm, alpha, beta, conjugate, threads, backend, measure, stat, errmsg)
    class(cutt_plan), intent(inout) :: this
    real(real32), intent(in) :: in(..), out(..)
    integer, intent(in) :: perm(:)
    real(real32), intent(in), optional, target :: alpha, beta
    logical, intent(in), optional :: conjugate, measure
    integer, intent(in), optional :: threads, backend
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call create(this, CUTT_F32, shape(in, c_int64_t), shape(out, c_int64_t), perm, cutt_address(alpha), cutt_address(beta), &
                conjugate, threads, backend, measure, stat, errmsg)
  end subroutine

  subroutine create_r8(this, in, out, perm, alpha, beta, conjugate, threads, backend, measure, stat, errmsg)
    class(cutt_plan), intent(inout) :: this
    real(real64), intent(in) :: in(..), out(..)
    integer, intent(in) :: perm(:)
    real(real64), intent(in), optional, target :: alpha, beta
    logical, intent(in), optional :: conjugate, measure
    integer, intent(in), optional :: threads, backend
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call create(this, CUTT_F64, shape(in, c_int64_t), shape(out, c_int64_t), perm, cutt_address(alpha), cutt_address(beta), &
                conjugate, threads, backend, measure, stat, errmsg)
  end subroutine

  subroutine create_c4(this, in, out, perm, alpha, beta, conjugate, threads, backend, measure, stat, errmsg)
    class(cutt_plan), intent(inout) :: this
    complex(real32), intent(in) :: in(..), out(..)
    integer, intent(in) :: perm(:)
    complex(real32), intent(in), optional, target :: alpha, beta
    logical, intent(in), optional :: conjugate, measure
    integer, intent(in), optional :: threads, backend
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call create(this, CUTT_C32, shape(in, c_int64_t), shape(out, c_int64_t), perm, cutt_address(alpha), cutt_address(beta), &
                conjugate, threads, backend, measure, stat, errmsg)
  end subroutine

  subroutine create_c8(this, in, out, perm, alpha, beta, conjugate, threads, backend, measure, stat, errmsg)
    class(cutt_plan), intent(inout) :: this
    complex(real64), intent(in) :: in(..), out(..)
    integer, intent(in) :: perm(:)
    complex(real64), intent(in), optional, target :: alpha, beta
    logical, intent(in), optional :: conjugate, measure
    integer, intent(in), optional :: threads, backend
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call create(this, CUTT_C64, shape(in, c_int64_t), shape(out, c_int64_t), perm, cutt_address(alpha), cutt_address(beta), &
                conjugate, threads, backend, measure, stat, errmsg)
  end subroutine

  subroutine create_i4(this, in, out, perm, alpha, beta, conjugate, threads, backend, measure, stat, errmsg)
    class(cutt_plan), intent(inout) :: this
    integer(int32), intent(in) :: in(..), out(..)
    integer, intent(in) :: perm(:)
    integer(int32), intent(in), optional, target :: alpha, beta
    logical, intent(in), optional :: conjugate, measure
    integer, intent(in), optional :: threads, backend
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call create(this, CUTT_I32, shape(in, c_int64_t), shape(out, c_int64_t), perm, cutt_address(alpha), cutt_address(beta), &
                conjugate, threads, backend, measure, stat, errmsg)
  end subroutine

  subroutine create_i8(this, in, out, perm, alpha, beta, conjugate, threads, backend, measure, stat, errmsg)
    class(cutt_plan), intent(inout) :: this
    integer(int64), intent(in) :: in(..), out(..)
    integer, intent(in) :: perm(:)
    integer(int64), intent(in), optional, target :: alpha, beta
    logical, intent(in), optional :: conjugate, measure
    integer, intent(in), optional :: threads, backend
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call create(this, CUTT_I64, shape(in, c_int64_t), shape(out, c_int64_t), perm, cutt_address(alpha), cutt_address(beta), &
                conjugate, threads, backend, measure, stat, errmsg)
  end subroutine

  subroutine permute_r4(in, out, perm, alpha, beta, conjugate, threads, backend, stat, errmsg)
    real(real32), intent(in), contiguous, target :: in(..)
    real(real32), intent(inout), contiguous, target :: out(..)
    integer, intent(in) :: perm(:)
    real(real32), intent(in), optional :: alpha, beta
    logical, intent(in), optional :: conjugate
    integer, intent(in), optional :: threads, backend
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(cutt_plan) :: plan
    call plan%create(in, out, perm, alpha, beta, conjugate, threads, backend, stat=stat, errmsg=errmsg)
    if (c_associated(plan%handle)) call plan%execute(in, out, stat=stat, errmsg=errmsg)
  end subroutine

  subroutine permute_r8(in, out, perm, alpha, beta, conjugate, threads, backend, stat, errmsg)
    real(real64), intent(in), contiguous, target :: in(..)
    real(real64), intent(inout), contiguous, target :: out(..)
    integer, intent(in) :: perm(:)
    real(real64), intent(in), optional :: alpha, beta
    logical, intent(in), optional :: conjugate
    integer, intent(in), optional :: threads, backend
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(cutt_plan) :: plan
    call plan%create(in, out, perm, alpha, beta, conjugate, threads, backend, stat=stat, errmsg=errmsg)
    if (c_associated(plan%handle)) call plan%execute(in, out, stat=stat, errmsg=errmsg)
  end subroutine

  subroutine permute_c4(in, out, perm, alpha, beta, conjugate, threads, backend, stat, errmsg)
    complex(real32), intent(in), contiguous, target :: in(..)
    complex(real32), intent(inout), contiguous, target :: out(..)
    integer, intent(in) :: perm(:)
    complex(real32), intent(in), optional :: alpha, beta
    logical, intent(in), optional :: conjugate
    integer, intent(in), optional :: threads, backend
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(cutt_plan) :: plan
    call plan%create(in, out, perm, alpha, beta, conjugate, threads, backend, stat=stat, errmsg=errmsg)
    if (c_associated(plan%handle)) call plan%execute(in, out, stat=stat, errmsg=errmsg)
  end subroutine

  subroutine permute_c8(in, out, perm, alpha, beta, conjugate, threads, backend, stat, errmsg)
    complex(real64), intent(in), contiguous, target :: in(..)
    complex(real64), intent(inout), contiguous, target :: out(..)
    integer, intent(in) :: perm(:)
    complex(real64), intent(in), optional :: alpha, beta
    logical, intent(in), optional :: conjugate
    integer, intent(in), optional :: threads, backend
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(cutt_plan) :: plan
    call plan%create(in, out, perm, alpha, beta, conjugate, threads, backend, stat=stat, errmsg=errmsg)
    if (c_associated(plan%handle)) call plan%execute(in, out, stat=stat, errmsg=errmsg)
  end subroutine

  subroutine permute_i4(in, out, perm, alpha, beta, conjugate, threads, backend, stat, errmsg)
    integer(int32), intent(in), contiguous, target :: in(..)
    integer(int32), intent(inout), contiguous, target :: out(..)
    integer, intent(in) :: perm(:)
    integer(int32), intent(in), optional :: alpha, beta
    logical, intent(in), optional :: conjugate
    integer, intent(in), optional :: threads, backend
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(cutt_plan) :: plan
    call plan%create(in, out, perm, alpha, beta, conjugate, threads, backend, stat=stat, errmsg=errmsg)
    if (c_associated(plan%handle)) call plan%execute(in, out, stat=stat, errmsg=errmsg)
  end subroutine

  subroutine permute_i8(in, out, perm, alpha, beta, conjugate, threads, backend, stat, errmsg)
    integer(int64), intent(in), contiguous, target :: in(..)
    integer(int64), intent(inout), contiguous, target :: out(..)
    integer, intent(in) :: perm(:)
    integer(int64), intent(in), optional :: alpha, beta
    logical, intent(in), optional :: conjugate
    integer, intent(in), optional :: threads, backend
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(cutt_plan) :: plan
    call plan%create(in, out, perm, alpha, beta, conjugate, threads, backend, stat=stat, errmsg=errmsg)
    if (c_associated(plan%handle)) call plan%execute(in, out, stat=stat, errmsg=errmsg)
  end subroutine
end module
