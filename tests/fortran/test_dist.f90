! The module cutt_dist_mpi, over the processes of MPI: mpirun -n N test_dist. Every element says where it is in the whole tensor.
program test_dist
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit, int32, int64, real32, real64
  use mpi
  use cutt_dist_mpi
  use cutt_dist_raw
  implicit none
  interface
    subroutine test_dist_sizes(sizes) bind(c, name='test_dist_sizes')
      import c_size_t
      integer(c_size_t), intent(out) :: sizes(*)
    end subroutine
  end interface
  type(cutt_dist_comm) :: comm
  character(300) :: text
  integer :: me, ranks, stat, code, failed = 0, any_failed, made = 0

  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, code)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
  call sizes()
  call cutt_dist_comm_mpi(comm, MPI_COMM_NULL, stat=stat, errmsg=text)
  call check(stat == CUTT_INTERNAL_ERROR .and. index(text, 'MPI_COMM_NULL') > 0, 'no communicator: '//trim(text))
  call check(comm%rank() == -1 .and. comm%size() == 0, 'no rank')
  call cutt_dist_comm_mpi(comm, MPI_COMM_WORLD)
  call check(comm%rank() == me .and. comm%size() == ranks, 'rank and size')
  call indices()
  call permuted()
  call added()
  call types()
  call relabelled()
  call shared()
  call errors()
  call comm%destroy()
  call MPI_Allreduce(failed, any_failed, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, code)
  if (me == 0) print '(a,i0,a,i0,a)', 'fortran, dist: ', made, ' checks on each rank, ', any_failed, ' failed'
  call MPI_Finalize(code)
  if (any_failed > 0) error stop 1
contains
  subroutine check(good, what)
    logical, intent(in) :: good
    character(*), intent(in) :: what
    made = made + 1
    if (good) return
    failed = failed + 1
    write (error_unit, '(a,i0,2a)') 'rank ', me, ' FAILED: ', what
  end subroutine

  subroutine check_error(wanted, part)
    integer, intent(in) :: wanted
    character(*), intent(in) :: part
    call check(stat == wanted .and. index(text, part) > 0, 'error "'//part//'", said: "'//trim(text)//'"')
  end subroutine

  subroutine sizes()
    integer(c_size_t) :: wanted(9)
    type(cuttDistLayout_t) :: layout
    type(cuttDistRequest_t) :: request
    type(cuttDistTransport_t) :: transport
    type(cuttDistProblem_t) :: problem
    type(cuttDistOptions_t) :: options
    type(cuttDistPlanInfo_t) :: info
    type(cuttDistContraction_t) :: contraction
    type(cuttDistContractionOptions_t) :: contraction_options
    type(cuttDistContractionInfo_t) :: contraction_info
    call test_dist_sizes(wanted)
    call check(all(wanted == [c_sizeof(layout), c_sizeof(request), c_sizeof(transport), c_sizeof(problem), c_sizeof(options), &
                              c_sizeof(info), c_sizeof(contraction), c_sizeof(contraction_options), c_sizeof(contraction_info)]), &
               'the sizes of structures')
  end subroutine

  ! The number of an element of the whole tensor, which is its value.
  real(real64) function value_at(layout, i, j, k)
    type(cutt_dist_layout), intent(in) :: layout
    integer, intent(in) :: i, j, k
    integer(int64) :: global(3)
    global = layout%global(me, [i, j, k])
    value_at = real(global(1) + 100*global(2) + 10000*global(3), real64)
  end function

  subroutine fill(layout, a)
    type(cutt_dist_layout), intent(in) :: layout
    real(real64), allocatable, intent(out) :: a(:, :, :)
    integer(int64) :: n(3)
    integer :: i, j, k
    n = layout%local_shape(me)
    allocate (a(n(1), n(2), n(3)))
    do k = 1, size(a, 3)
      do j = 1, size(a, 2)
        do i = 1, size(a, 1)
          a(i, j, k) = value_at(layout, i, j, k)
        end do
      end do
    end do
    call check(layout%local_count(me) == size(a, kind=int64), 'local_count')
  end subroutine

  ! Indices there and back, from 1, of both kinds of integers, and copies.
  subroutine indices()
    type(cutt_dist_layout) :: layout
    integer(int64) :: local(2), global(2)
    integer :: i, owner
    call layout%create([7, 5], parts=[1, ranks], blocks=[0, 2], copies=1)
    do i = 1, 5
      call layout%find([3, i], owner, local)
      global = layout%global(owner, local)
      call check(all(global == [3, i]) .and. owner == mod((i - 1)/2, ranks), 'an index there and back')
    end do
    call layout%create([2], copies=ranks)
    call layout%find([2_int64], owner, copy=ranks)
    call check(owner == ranks - 1, 'the last copy')
  end subroutine

  ! b(k, i, j) = a(i, j, k): spread by the last mode, and blocks of 3 in a mode of b.
  subroutine permuted()
    type(cutt_dist_layout) :: from, to
    type(cutt_dist_plan) :: plan
    real(real64), allocatable :: a(:, :, :), b(:, :, :)
    integer(int64) :: n(3), global(3)
    integer :: i, j, k
    logical :: good
    call from%create([13, 6, 10], parts=[1, 1, ranks])
    call to%create([10_int64, 13_int64, 6_int64], parts=[1, ranks, 1], blocks=[0_int64, 3_int64, 0_int64])
    call fill(from, a)
    n = to%local_shape(me)
    allocate (b(n(1), n(2), n(3)))
    b = -1
    call plan%create(comm, a, b, from, to, [3, 1, 2], threads=1, piece_bytes=256_c_size_t)
    call plan%execute(a, b)
    good = .true.
    do k = 1, size(b, 3)
      do j = 1, size(b, 2)
        do i = 1, size(b, 1)
          global = to%global(me, [i, j, k])
          good = good .and. b(i, j, k) == real(global(2) + 100*global(3) + 10000*global(1), real64)
        end do
      end do
    end do
    call check(good, 'a permutation')
    call check(index(plan%describe(), 'permutation') > 0, 'describe')
    call plan%execute(a, b, stat=stat, errmsg=text)
    call check(stat == CUTT_SUCCESS, 'again')
    if (me == ranks - 1) then
      call plan%execute(a(1:2, :, :), b, stat=stat, errmsg=text)
    else
      call plan%execute(a, b, stat=stat, errmsg=text)
    end if
    write (text(200:), '(a,i0,a)') 'rank ', ranks - 1, ':'
    call check(stat == CUTT_INVALID_PARAMETER .and. index(text, trim(text(200:))) == 1 .and. &
               index(text, 'another shape than the plan was made for') > 0, 'a wrong shape: '//trim(text))
  end subroutine

  ! Only some ranks hold the output: b = 2 a + 3 b.
  subroutine added()
    type(cutt_dist_layout) :: from, to
    type(cutt_dist_plan) :: plan
    real(real64), allocatable :: a(:, :, :), b(:, :, :), c(:, :, :)
    call from%create([8, 9, 4], parts=[ranks, 1, 1])
    call to%create([8, 9, 4], ranks=[ranks - 1])
    call fill(from, a)
    call fill(to, c)
    allocate (b, source=c)
    call plan%create(comm, a, b, from, to, [1, 2, 3], alpha=2._real64, beta=3._real64, permute=CUTT_DIST_UNPACK, &
                     direct=CUTT_DIST_DIRECT_NEVER)
    call plan%execute(a, b)
    call check(all(b == 5*c), 'alpha and beta, to one rank')
  end subroutine

  ! A vector on one rank goes to all of them, in each type.
  subroutine types()
    type(cutt_dist_layout) :: from, to
    type(cutt_dist_plan) :: plan
    real(real32) :: r4(3), s4(3)
    complex(real32) :: c4(3), d4(3)
    complex(real64) :: c8(3), d8(3)
    integer(int32) :: i4(3), j4(3)
    integer(int64) :: i8(3), j8(3)
    call from%create([3], ranks=[0])
    call to%create([3], copies=ranks)
    r4 = [1, 2, 3]
    c4 = [(1, 2), (3, 4), (5, 6)]
    c8 = c4
    i4 = [1, 2, 3]
    i8 = i4
    call plan%create(comm, r4, s4, from, to, [1], stat=stat, errmsg=text)
    if (ranks > 1) then ! r4 is not what the other ranks have of from: nothing
      call check_error(CUTT_INVALID_PARAMETER, 'rank 1: in has shape (3); this rank''s part is (0)')
      call from%create([3], copies=ranks)
      call plan%create(comm, r4, s4, from, to, [1])
    end if
    call plan%execute(r4, s4)
    call check(all(s4 == r4), 'real32')
    call plan%create(comm, c4, d4, from, to, [1], alpha=(0., 2.), conjugate=.true.)
    call plan%execute(c4, d4)
    call check(all(d4 == (0., 2.)*conjg(c4)), 'complex, real32')
    call plan%create(comm, c8, d8, from, to, [1])
    call plan%execute(c8, d8)
    call check(all(d8 == c8), 'complex, real64')
    call plan%create(comm, i4, j4, from, to, [1], alpha=3)
    call plan%execute(i4, j4)
    call check(all(j4 == 3*i4), 'int32')
    call plan%create(comm, i8, j8, from, to, [1])
    call plan%execute(i8, j8)
    call check(all(j8 == i8), 'int64')
  end subroutine

  ! A transposed grid: with the order of ranks that moves least nothing moves.
  subroutine relabelled()
    type(cutt_dist_layout) :: from, to
    type(cutt_dist_plan) :: plan
    real(real64), allocatable :: a(:, :), b(:, :)
    integer(int64) :: n(2)
    call from%create([12, 12], parts=[1, ranks])
    call to%create([12, 12], parts=[ranks, 1])
    call cutt_dist_relabel(from, to, [2, 1], ranks)
    n = from%local_shape(me)
    allocate (a(n(1), n(2)), source=real(me, real64))
    n = to%local_shape(me)
    allocate (b(n(1), n(2)), source=-1._real64)
    call plan%create(comm, a, b, from, to, [2, 1])
    call plan%execute(a, b)
    call check(all(b == real(me, real64)), 'nothing moves')
    call cutt_dist_relabel(from, to, [2, 2], ranks, stat=stat, errmsg=text)
    call check_error(CUTT_INVALID_PARAMETER, 'perm(2) is 2; each of 1 to 2 must be there once')
  end subroutine

  ! b(j, i) = a(i, j), written into memory of other processes.
  subroutine shared()
    type(cutt_dist_layout) :: from, to
    type(cutt_dist_plan) :: plan
    real(real64), allocatable :: a(:, :), elsewhere(:, :)
    real(real64), pointer, contiguous :: b(:, :)
    type(c_ptr) :: memory
    integer(int64) :: n(2), global(2)
    integer :: i, j
    logical :: good
    call from%create([12, 9], parts=[1, ranks])
    call to%create([9, 12], parts=[1, ranks])
    n = from%local_shape(me)
    allocate (a(n(1), n(2)))
    do j = 1, size(a, 2)
      do i = 1, size(a, 1)
        global = from%global(me, [i, j])
        a(i, j) = real(global(1) + 100*global(2), real64)
      end do
    end do
    n = to%local_shape(me)
    call cutt_dist_mpi_allocate(comm, 8*product(n), memory)
    call c_f_pointer(memory, b, n)
    b = -1
    call plan%create(comm, a, b, from, to, [2, 1], direct=CUTT_DIST_DIRECT_ALWAYS)
    call plan%execute(a, b)
    good = .true.
    do j = 1, size(b, 2)
      do i = 1, size(b, 1)
        global = to%global(me, [i, j])
        good = good .and. b(i, j) == real(global(2) + 100*global(1), real64)
      end do
    end do
    call check(good, 'shared memory')
    allocate (elsewhere(n(1), n(2)))
    call plan%execute(a, elsewhere, stat=stat, errmsg=text)
    call check_error(CUTT_INVALID_PARAMETER, 'it is not within memory of cuttDistMpiAllocate')
    call cutt_dist_mpi_free(comm, memory)
    call cutt_dist_mpi_allocate(comm, -1_c_int64_t, memory, stat=stat, errmsg=text)
    call check_error(CUTT_INTERNAL_ERROR, 'bytes is below 0')
  end subroutine

  subroutine errors()
    type(cutt_dist_layout) :: from, to, none
    type(cutt_dist_plan) :: plan
    real(real64) :: a(2), b(2)
    call from%create([2, 2], parts=[1], stat=stat, errmsg=text)
    call check_error(CUTT_INVALID_PARAMETER, 'parts has 1 entries; it must have one for each of the 2 modes')
    call from%create([2, 2], ranks=[0, 1], stat=stat, errmsg=text)
    call check_error(CUTT_INVALID_PARAMETER, 'ranks has 2 entries; it must have one for each position and copy: 1')
    call from%create([2], copies=ranks)
    call to%create([2], copies=ranks)
    call plan%execute(a, b, stat=stat, errmsg=text)
    call check_error(CUTT_INVALID_PLAN, 'the plan has not been created')
    call plan%create(comm, a, b, from, none, [1], stat=stat, errmsg=text)
    call check_error(CUTT_INVALID_PARAMETER, 'rank 0: to has not been created')
    call plan%create(comm, a, b, from, to, [2], stat=stat, errmsg=text)
    call check_error(CUTT_INVALID_PARAMETER, 'rank 0: perm(1) is 2; each of 1 to 1 must be there once')
    call plan%create(comm, a, b, from, to, [1], threads=merge(-1, 1, me == ranks - 1), stat=stat, errmsg=text)
    call check(stat == CUTT_INVALID_PARAMETER .and. index(text, 'threads is -1') > 0, 'threads: '//trim(text))
    call plan%create(comm, a, b, from, to, [1], stat=stat, errmsg=text)
    call check(stat == CUTT_SUCCESS, 'all right again')
  end subroutine
end program
