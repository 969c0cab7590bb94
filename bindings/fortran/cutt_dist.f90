! Fortran arrays that are spread over ranks: out = alpha * permuted(in) + beta * out from any layout to any layout, by
! libcutt_dist.
!
!   use cutt_dist_mpi
!   type(cutt_dist_comm) :: comm
!   type(cutt_dist_layout) :: from, to
!   type(cutt_dist_plan) :: plan
!   call cutt_dist_comm_mpi(comm, MPI_COMM_WORLD)
!   call from%create([30, 20, 10], parts=[1, 1, ranks])
!   call to%create([10, 30, 20], parts=[1, 1, ranks])
!   call plan%create(comm, a, b, from, to, [3, 1, 2])  ! b(k, i, j) = a(i, j, k), of the whole tensors
!   call plan%execute(a, b)                            ! any number of times
!   call comm%destroy()
!
! a and b are this rank's parts. Modes, indices and perm count from 1, as in the module cutt; ranks count from 0, as in MPI.
! Calls that the comments name collective are made by all ranks in the same order, and fail on all ranks or on none, with the
! same text, which names the first rank that is wrong. stat and errmsg are as in the module cutt.
module cutt_dist
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use cutt_raw
  use cutt_dist_raw
  use cutt, only: cutt_address, cutt_finish, cutt_last_error, cutt_string
  implicit none
  private
  public :: cutt_dist_comm, cutt_dist_layout, cutt_dist_plan, cutt_dist_relabel
  public :: CUTT_SUCCESS, CUTT_INVALID_PLAN, CUTT_INVALID_PARAMETER, CUTT_INVALID_DEVICE, CUTT_INTERNAL_ERROR
  public :: CUTT_DIST_BY_COST, CUTT_DIST_PACK, CUTT_DIST_UNPACK
  public :: CUTT_DIST_DIRECT_BY_COST, CUTT_DIST_DIRECT_NEVER, CUTT_DIST_DIRECT_ALWAYS

  integer, parameter :: most = 15 ! the largest rank of a Fortran array

  ! Who takes part. cutt_dist_comm_mpi of the module cutt_dist_mpi makes one of MPI. It is not to be assigned, and is destroyed by
  ! its user: collective, before MPI_Finalize, after its plans.
  type :: cutt_dist_comm
    type(c_ptr) :: handle = c_null_ptr ! as cutt_dist_raw has it
  contains
    procedure :: rank => comm_rank
    procedure :: size => comm_size
    procedure :: destroy => comm_destroy
  end type

  ! Where the elements of a tensor are, as cuttDistLayout_t in cutt_dist.h.
  type :: cutt_dist_layout
    private
    integer :: modes = -1, copies = 1
    integer(c_int64_t) :: extents(most) = 0, blocks(most) = 0
    integer(c_int) :: parts(most) = 1
    integer(c_int), allocatable :: ranks(:)
    integer(c_int64_t), allocatable :: strides(:)
  contains
    procedure, private :: layout_create_i4, layout_create_i8, global_i4, global_i8, find_i4, find_i8
    ! create(extents, parts, blocks, ranks, copies, strides, stat, errmsg), all from parts on optional. blocks and strides are of
    ! the kind of extents.
    generic :: create => layout_create_i4, layout_create_i8
    ! local_shape(rank), local_count(rank): the shape of a rank's part, and its elements. A rank below 0 ends the program.
    procedure :: local_shape => layout_local_shape
    procedure :: local_count => layout_local_count
    ! global(rank, local): the index in the whole tensor of an element of a rank's part.
    generic :: global => global_i4, global_i8
    ! find(global, rank, local, copy): the other way, in one of the copies, 1, 2, ...
    generic :: find => find_i4, find_i8
  end type

  ! A plan: created again, destroyed and not assigned as a cutt_plan is.
  type :: cutt_dist_plan
    private
    type(c_ptr) :: handle = c_null_ptr, comm = c_null_ptr
    integer :: rank(2) = 0
    integer(c_int64_t) :: shape(most, 2) = 0
  contains
    procedure, private :: create_r4, create_r8, create_c4, create_c8, create_i4, create_i8
    ! create(comm, in, out, from, to, perm, alpha, beta, conjugate, threads, workspace_limit, piece_bytes, permute, direct, stat,
    ! errmsg), all from alpha on optional. Collective. in and out give type and shape, which must be those of this rank's parts
    ! (but for a layout with strides), and are neither read nor kept.
    generic :: create => create_r4, create_r8, create_c4, create_c8, create_i4, create_i8
    procedure :: execute => plan_execute
    procedure :: describe => plan_describe
    procedure :: destroy => plan_destroy
    final :: plan_finish
  end type

contains

  ! ------------------------------------------------------------------------------------------------------- communicators

  ! This rank, from 0; -1 without a communicator.
  integer function comm_rank(this)
    class(cutt_dist_comm), intent(in) :: this
    type(cuttDistTransport_t) :: transport
    comm_rank = -1
    if (.not. c_associated(this%handle)) return
    if (cuttDistCommTransport(this%handle, transport) == CUTT_SUCCESS) comm_rank = transport%rank
  end function

  ! The number of ranks; 0 without a communicator.
  integer function comm_size(this)
    class(cutt_dist_comm), intent(in) :: this
    type(cuttDistTransport_t) :: transport
    comm_size = 0
    if (.not. c_associated(this%handle)) return
    if (cuttDistCommTransport(this%handle, transport) == CUTT_SUCCESS) comm_size = transport%size
  end function

  subroutine comm_destroy(this)
    class(cutt_dist_comm), intent(inout) :: this
    integer(c_int) :: code
    if (c_associated(this%handle)) code = cuttDistCommDestroy(this%handle)
    this%handle = c_null_ptr
  end subroutine

  ! ------------------------------------------------------------------------------------------------------------- layouts

  pure function decimal(number) result(text)
    integer(c_int64_t), intent(in) :: number
    character(:), allocatable :: text
    character(24) :: buffer
    write (buffer, '(i0)') number
    text = trim(buffer)
  end function

  pure function list(numbers) result(text)
    integer(c_int64_t), intent(in) :: numbers(:)
    character(:), allocatable :: text
    integer :: i
    text = '('
    do i = 1, size(numbers)
      if (i > 1) text = text//', '
      text = text//decimal(numbers(i))
    end do
    text = text//')'
  end function

  ! What C reads; it points into the layout.
  function view(layout) result(c)
    type(cutt_dist_layout), intent(in), target :: layout
    type(cuttDistLayout_t) :: c
    c%struct_size = c_sizeof(c)
    c%modes = int(layout%modes, c_int)
    c%copies = int(layout%copies, c_int)
    c%extents = c_loc(layout%extents)
    c%parts = c_loc(layout%parts)
    c%blocks = c_loc(layout%blocks)
    if (allocated(layout%ranks)) c%ranks = c_loc(layout%ranks)
    if (allocated(layout%strides)) c%strides = c_loc(layout%strides)
  end function

  ! Does a list have an entry for each mode? Without, the error is said to stat and errmsg.
  logical function fits(name, entries, modes, stat, errmsg)
    character(*), intent(in) :: name
    integer, intent(in) :: entries, modes
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    fits = entries == modes
    if (.not. fits) call cutt_finish(CUTT_INVALID_PARAMETER, name//' has '//decimal(int(entries, c_int64_t))//' entries; it '// &
                                     'must have one for each of the '//decimal(int(modes, c_int64_t))//' modes', stat, errmsg)
  end function

  subroutine layout_create_i8(this, extents, parts, blocks, ranks, copies, strides, stat, errmsg)
    class(cutt_dist_layout), intent(inout) :: this
    integer(int64), intent(in) :: extents(:)
    integer, intent(in), optional :: parts(:), ranks(:), copies
    integer(int64), intent(in), optional :: blocks(:), strides(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer :: places, modes
    modes = size(extents)
    this%modes = -1
    if (modes > most) then
      call cutt_finish(CUTT_INVALID_PARAMETER, 'extents has '//decimal(int(modes, c_int64_t))//' entries; it may have '// &
                       'at most '//decimal(int(most, c_int64_t))//', as many as an array has modes', stat, errmsg)
      return
    end if
    this%extents(:modes) = extents
    this%parts = 1
    this%blocks = 0
    this%copies = 1
    if (allocated(this%ranks)) deallocate (this%ranks)
    if (allocated(this%strides)) deallocate (this%strides)
    if (present(parts)) then
      if (.not. fits('parts', size(parts), modes, stat, errmsg)) return
      this%parts(:modes) = int(parts, c_int)
    end if
    if (present(blocks)) then
      if (.not. fits('blocks', size(blocks), modes, stat, errmsg)) return
      this%blocks(:modes) = blocks
    end if
    if (present(strides)) then
      if (.not. fits('strides', size(strides), modes, stat, errmsg)) return
      this%strides = strides
    end if
    if (present(copies)) this%copies = copies
    if (present(ranks)) then
      places = product(int(this%parts(:modes)))*this%copies
      if (size(ranks) /= places) then
        call cutt_finish(CUTT_INVALID_PARAMETER, 'ranks has '//decimal(size(ranks, kind=c_int64_t))// &
                         ' entries; it must have one for each position and copy: '//decimal(int(places, c_int64_t)), stat, errmsg)
        return
      end if
      this%ranks = int(ranks, c_int)
    end if
    this%modes = modes
    if (present(stat)) stat = CUTT_SUCCESS
  end subroutine

  subroutine layout_create_i4(this, extents, parts, blocks, ranks, copies, strides, stat, errmsg)
    class(cutt_dist_layout), intent(inout) :: this
    integer(int32), intent(in) :: extents(:)
    integer, intent(in), optional :: parts(:), ranks(:), copies
    integer(int32), intent(in), optional :: blocks(:), strides(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int64), allocatable :: wide_blocks(:), wide_strides(:) ! not allocated: not present
    if (present(blocks)) allocate (wide_blocks, source=int(blocks, int64))
    if (present(strides)) allocate (wide_strides, source=int(strides, int64))
    call this%create(int(extents, int64), parts, wide_blocks, ranks, copies, wide_strides, stat, errmsg)
  end subroutine

  function layout_local_shape(this, rank) result(local)
    class(cutt_dist_layout), intent(in), target :: this
    integer, intent(in) :: rank
    integer(int64), allocatable :: local(:)
    allocate (local(max(this%modes, 0)))
    call cutt_finish(cuttDistLocalExtents(view(this), int(rank, c_int), local))
  end function

  integer(int64) function layout_local_count(this, rank)
    class(cutt_dist_layout), intent(in), target :: this
    integer, intent(in) :: rank
    call cutt_finish(cuttDistLocalCount(view(this), int(rank, c_int), layout_local_count))
  end function

  function global_i8(this, rank, local) result(global)
    class(cutt_dist_layout), intent(in), target :: this
    integer, intent(in) :: rank
    integer(int64), intent(in) :: local(:)
    integer(int64) :: global(size(local))
    if (fits('local', size(local), this%modes)) call cutt_finish(cuttDistGlobal(view(this), int(rank, c_int), local - 1, global))
    global = global + 1
  end function

  function global_i4(this, rank, local) result(global)
    class(cutt_dist_layout), intent(in), target :: this
    integer, intent(in) :: rank
    integer(int32), intent(in) :: local(:)
    integer(int64) :: global(size(local))
    global = this%global(rank, int(local, int64))
  end function

  subroutine find_i8(this, global, rank, local, copy)
    class(cutt_dist_layout), intent(in), target :: this
    integer(int64), intent(in) :: global(:)
    integer, intent(out) :: rank
    integer(int64), intent(out), optional :: local(:)
    integer, intent(in), optional :: copy
    integer(c_int64_t), target :: there(most)
    integer(c_int) :: found, which
    if (.not. fits('global', size(global), this%modes)) return
    if (present(local)) then
      if (.not. fits('local', size(local), this%modes)) return
    end if
    which = 0
    if (present(copy)) which = int(copy - 1, c_int)
    call cutt_finish(cuttDistFind(view(this), global - 1, which, found, c_loc(there)))
    rank = found
    if (present(local)) local = there(:this%modes) + 1
  end subroutine

  subroutine find_i4(this, global, rank, local, copy)
    class(cutt_dist_layout), intent(in), target :: this
    integer(int32), intent(in) :: global(:)
    integer, intent(out) :: rank
    integer(int64), intent(out), optional :: local(:)
    integer, intent(in), optional :: copy
    call this%find(int(global, int64), rank, local, copy)
  end subroutine

  ! The order of ranks for `to` that moves least, chosen from 0 .. size - 1, becomes that of `to`.
  subroutine cutt_dist_relabel(from, to, perm, size, stat, errmsg)
    type(cutt_dist_layout), intent(in), target :: from
    type(cutt_dist_layout), intent(inout), target :: to
    integer, intent(in) :: perm(:), size
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int), target :: perm_from_0(most)
    integer(c_int), allocatable :: ranks(:)
    integer(c_int) :: code
    character(:), allocatable :: text
    text = perm_complaint(perm, from)
    code = CUTT_INVALID_PARAMETER
    if (len(text) == 0) then
      perm_from_0(:ubound(perm, 1)) = int(perm - 1, c_int)
      allocate (ranks(max(1, product(int(to%parts(:max(to%modes, 0))))*to%copies)))
      code = cuttDistRelabel(view(from), view(to), c_loc(perm_from_0), int(size, c_int), ranks)
      if (code /= CUTT_SUCCESS) text = cutt_last_error()
    end if
    if (code == CUTT_SUCCESS) to%ranks = ranks
    call cutt_finish(code, text, stat, errmsg)
  end subroutine

  ! --------------------------------------------------------------------------------------------------------------- plans

  ! What is wrong with perm, in Fortran's counting, or "".
  function perm_complaint(perm, from) result(text)
    integer, intent(in) :: perm(:)
    type(cutt_dist_layout), intent(in) :: from
    character(:), allocatable :: text
    integer :: i
    text = ''
    if (from%modes < 0) then
      text = 'from has not been created'
    else if (size(perm) /= from%modes) then
      text = 'perm has '//decimal(size(perm, kind=c_int64_t))//' entries; it must have one for each of the '// &
        decimal(int(from%modes, c_int64_t))//' modes'
    else
      do i = 1, size(perm)
        if (perm(i) >= 1 .and. perm(i) <= size(perm) .and. .not. any(perm(:i - 1) == perm(i))) cycle
        text = 'perm('//decimal(int(i, c_int64_t))//') is '//decimal(int(perm(i), c_int64_t))//'; each of 1 to '// &
          decimal(size(perm, kind=c_int64_t))//' must be there once'
        return
      end do
    end if
  end function

  ! What is wrong with the shape of an array that holds this rank's part of a layout, or "". What is wrong with the layout itself
  ! is left to the library.
  function shape_complaint(name, shape, layout, rank) result(text)
    character(*), intent(in) :: name
    integer(c_int64_t), intent(in) :: shape(:)
    type(cutt_dist_layout), intent(in), target :: layout
    integer, intent(in) :: rank
    character(:), allocatable :: text
    integer(c_int64_t) :: local(most)
    text = ''
    if (allocated(layout%strides) .or. layout%modes < 0 .or. rank < 0) return
    if (cuttDistLocalExtents(view(layout), int(rank, c_int), local) /= CUTT_SUCCESS) return
    if (size(shape) == layout%modes) then
      if (all(shape == local(:layout%modes))) return
    end if
    if (any(shape == 0) .and. any(local(:layout%modes) == 0)) return
    text = name//' has shape '//list(shape)//'; this rank''s part is '//list(local(:layout%modes))
  end function

  ! A text as C takes it.
  pure function c_string(text) result(c)
    character(*), intent(in) :: text
    character(kind=c_char) :: c(len(text) + 1)
    integer :: i
    do i = 1, len(text)
      c(i) = text(i:i)
    end do
    c(len(text) + 1) = c_null_char
  end function

  subroutine create(this, type, comm, in_shape, out_shape, from, to, perm, alpha, beta, conjugate, threads, workspace_limit, &
                    piece_bytes, permute, direct, stat, errmsg)
    class(cutt_dist_plan), intent(inout) :: this
    integer(c_int), intent(in) :: type
    type(cutt_dist_comm), intent(in) :: comm
    integer(c_int64_t), intent(in) :: in_shape(:), out_shape(:)
    type(cutt_dist_layout), intent(in), target :: from, to
    integer, intent(in) :: perm(:)
    type(c_ptr), intent(in) :: alpha, beta
    logical, intent(in), optional :: conjugate
    integer, intent(in), optional :: threads
    integer(c_size_t), intent(in), optional :: workspace_limit, piece_bytes
    integer(c_int), intent(in), optional :: permute, direct
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int), target :: perm_from_0(most)
    type(cuttDistLayout_t), target :: from_c, to_c
    type(cuttDistProblem_t) :: problem
    type(cuttDistOptions_t), target :: options
    integer(c_int) :: code
    character(:), allocatable :: text
    call this%destroy()
    text = perm_complaint(perm, from)
    if (len(text) == 0 .and. to%modes < 0) text = 'to has not been created'
    if (len(text) == 0) text = shape_complaint('in', in_shape, from, comm%rank())
    if (len(text) == 0) text = shape_complaint('out', out_shape, to, comm%rank())
    if (len(text) > 0) then
      code = cuttDistRefuse(comm%handle, c_null_ptr, c_string(text))
    else
      perm_from_0(:size(perm)) = int(perm - 1, c_int)
      from_c = view(from)
      to_c = view(to)
      problem%struct_size = c_sizeof(problem)
      problem%type = type
      problem%from = c_loc(from_c)
      problem%to = c_loc(to_c)
      problem%perm = c_loc(perm_from_0)
      problem%alpha = alpha
      problem%beta = beta
      if (present(conjugate)) problem%conjugate = merge(1, 0, conjugate)
      options%struct_size = c_sizeof(options)
      if (present(threads)) options%threads = int(threads, c_int)
      if (present(workspace_limit)) options%workspace_limit = workspace_limit
      if (present(piece_bytes)) options%piece_bytes = piece_bytes
      if (present(permute)) options%permute = permute
      if (present(direct)) options%direct = direct
      code = cuttDistPlanCreate(this%handle, comm%handle, problem, c_loc(options))
    end if
    if (code == CUTT_SUCCESS) then
      this%comm = comm%handle
      this%rank = [size(in_shape), size(out_shape)]
      this%shape(:size(in_shape), 1) = in_shape
      this%shape(:size(out_shape), 2) = out_shape
    end if
    call cutt_finish(code, stat=stat, errmsg=errmsg)
  end subroutine

  ! Redistributes this rank's part in to this rank's part out, arrays of the type and shapes that the plan was made for.
  ! Collective. stream: for memory of a GPU.
  subroutine plan_execute(this, in, out, stream, stat, errmsg)
    class(cutt_dist_plan), intent(in) :: this
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
      return
    end if
    if (.not. same(this, 1, shape(in, c_int64_t)) .or. .not. same(this, 2, shape(out, c_int64_t))) then
      code = cuttDistRefuse(this%comm, this%handle, c_string('in or out has another shape than the plan was made for'))
    else
      code = cuttDistPlanExecute(this%handle, c_loc(in), c_loc(out), used)
    end if
    call cutt_finish(code, stat=stat, errmsg=errmsg)
  end subroutine

  pure logical function same(this, which, extents)
    class(cutt_dist_plan), intent(in) :: this
    integer, intent(in) :: which
    integer(c_int64_t), intent(in) :: extents(:)
    same = size(extents) == this%rank(which)
    if (same) same = all(extents == this%shape(:size(extents), which))
  end function

  ! Layouts, what each rank sends, pieces, workspace and predicted time; "" without a plan.
  function plan_describe(this) result(text)
    class(cutt_dist_plan), intent(in) :: this
    character(:), allocatable :: text
    character(kind=c_char), allocatable, target :: buffer(:)
    integer(c_size_t) :: needed, again
    text = ''
    if (.not. c_associated(this%handle)) return
    if (cuttDistPlanDescribe(this%handle, CUTT_TEXT, c_null_ptr, 0_c_size_t, needed) /= CUTT_SUCCESS) return
    allocate (buffer(needed))
    if (cuttDistPlanDescribe(this%handle, CUTT_TEXT, c_loc(buffer), needed, again) == CUTT_SUCCESS) &
      text = cutt_string(c_loc(buffer))
  end function

  subroutine plan_destroy(this)
    class(cutt_dist_plan), intent(inout) :: this
    integer(c_int) :: code
    if (c_associated(this%handle)) code = cuttDistPlanDestroy(this%handle)
    this%handle = c_null_ptr
  end subroutine

  impure elemental subroutine plan_finish(this)
    type(cutt_dist_plan), intent(inout) :: this
    call this%destroy()
  end subroutine

  ! The same for each type. The arrays are asked for their shapes only: sections are not copied.

  subroutine create_r4(this, comm, in, out, from, to, perm, alpha, beta, conjugate, threads, workspace_limit, piece_bytes, &
                       permute, direct, stat, errmsg)
    class(cutt_dist_plan), intent(inout) :: this
    type(cutt_dist_comm), intent(in) :: comm
    real(real32), intent(in) :: in(..), out(..)
    type(cutt_dist_layout), intent(in), target :: from, to
    integer, intent(in) :: perm(:)
    real(real32), intent(in), optional, target :: alpha, beta
    logical, intent(in), optional :: conjugate
    integer, intent(in), optional :: threads
    integer(c_size_t), intent(in), optional :: workspace_limit, piece_bytes
    integer(c_int), intent(in), optional :: permute, direct
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call create(this, CUTT_F32, comm, shape(in, c_int64_t), shape(out, c_int64_t), from, to, perm, cutt_address(alpha), &
                cutt_address(beta), conjugate, threads, workspace_limit, piece_bytes, permute, direct, stat, errmsg)
  end subroutine

  subroutine create_r8(this, comm, in, out, from, to, perm, alpha, beta, conjugate, threads, workspace_limit, piece_bytes, &
                       permute, direct, stat, errmsg)
    class(cutt_dist_plan), intent(inout) :: this
    type(cutt_dist_comm), intent(in) :: comm
    real(real64), intent(in) :: in(..), out(..)
    type(cutt_dist_layout), intent(in), target :: from, to
    integer, intent(in) :: perm(:)
    real(real64), intent(in), optional, target :: alpha, beta
    logical, intent(in), optional :: conjugate
    integer, intent(in), optional :: threads
    integer(c_size_t), intent(in), optional :: workspace_limit, piece_bytes
    integer(c_int), intent(in), optional :: permute, direct
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call create(this, CUTT_F64, comm, shape(in, c_int64_t), shape(out, c_int64_t), from, to, perm, cutt_address(alpha), &
                cutt_address(beta), conjugate, threads, workspace_limit, piece_bytes, permute, direct, stat, errmsg)
  end subroutine

  subroutine create_c4(this, comm, in, out, from, to, perm, alpha, beta, conjugate, threads, workspace_limit, piece_bytes, &
                       permute, direct, stat, errmsg)
    class(cutt_dist_plan), intent(inout) :: this
    type(cutt_dist_comm), intent(in) :: comm
    complex(real32), intent(in) :: in(..), out(..)
    type(cutt_dist_layout), intent(in), target :: from, to
    integer, intent(in) :: perm(:)
    complex(real32), intent(in), optional, target :: alpha, beta
    logical, intent(in), optional :: conjugate
    integer, intent(in), optional :: threads
    integer(c_size_t), intent(in), optional :: workspace_limit, piece_bytes
    integer(c_int), intent(in), optional :: permute, direct
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call create(this, CUTT_C32, comm, shape(in, c_int64_t), shape(out, c_int64_t), from, to, perm, cutt_address(alpha), &
                cutt_address(beta), conjugate, threads, workspace_limit, piece_bytes, permute, direct, stat, errmsg)
  end subroutine

  subroutine create_c8(this, comm, in, out, from, to, perm, alpha, beta, conjugate, threads, workspace_limit, piece_bytes, &
                       permute, direct, stat, errmsg)
    class(cutt_dist_plan), intent(inout) :: this
    type(cutt_dist_comm), intent(in) :: comm
    complex(real64), intent(in) :: in(..), out(..)
    type(cutt_dist_layout), intent(in), target :: from, to
    integer, intent(in) :: perm(:)
    complex(real64), intent(in), optional, target :: alpha, beta
    logical, intent(in), optional :: conjugate
    integer, intent(in), optional :: threads
    integer(c_size_t), intent(in), optional :: workspace_limit, piece_bytes
    integer(c_int), intent(in), optional :: permute, direct
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call create(this, CUTT_C64, comm, shape(in, c_int64_t), shape(out, c_int64_t), from, to, perm, cutt_address(alpha), &
                cutt_address(beta), conjugate, threads, workspace_limit, piece_bytes, permute, direct, stat, errmsg)
  end subroutine

  subroutine create_i4(this, comm, in, out, from, to, perm, alpha, beta, conjugate, threads, workspace_limit, piece_bytes, &
                       permute, direct, stat, errmsg)
    class(cutt_dist_plan), intent(inout) :: this
    type(cutt_dist_comm), intent(in) :: comm
    integer(int32), intent(in) :: in(..), out(..)
    type(cutt_dist_layout), intent(in), target :: from, to
    integer, intent(in) :: perm(:)
    integer(int32), intent(in), optional, target :: alpha, beta
    logical, intent(in), optional :: conjugate
    integer, intent(in), optional :: threads
    integer(c_size_t), intent(in), optional :: workspace_limit, piece_bytes
    integer(c_int), intent(in), optional :: permute, direct
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call create(this, CUTT_I32, comm, shape(in, c_int64_t), shape(out, c_int64_t), from, to, perm, cutt_address(alpha), &
                cutt_address(beta), conjugate, threads, workspace_limit, piece_bytes, permute, direct, stat, errmsg)
  end subroutine

  subroutine create_i8(this, comm, in, out, from, to, perm, alpha, beta, conjugate, threads, workspace_limit, piece_bytes, &
                       permute, direct, stat, errmsg)
    class(cutt_dist_plan), intent(inout) :: this
    type(cutt_dist_comm), intent(in) :: comm
    integer(int64), intent(in) :: in(..), out(..)
    type(cutt_dist_layout), intent(in), target :: from, to
    integer, intent(in) :: perm(:)
    integer(int64), intent(in), optional, target :: alpha, beta
    logical, intent(in), optional :: conjugate
    integer, intent(in), optional :: threads
    integer(c_size_t), intent(in), optional :: workspace_limit, piece_bytes
    integer(c_int), intent(in), optional :: permute, direct
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call create(this, CUTT_I64, comm, shape(in, c_int64_t), shape(out, c_int64_t), from, to, perm, cutt_address(alpha), &
                cutt_address(beta), conjugate, threads, workspace_limit, piece_bytes, permute, direct, stat, errmsg)
  end subroutine
end module
