! A tensor over the processes of MPI, transposed, in Fortran: mpirun -n 4 ranks_mpi. As ranks_mpi.c.
program ranks_mpi
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use mpi
  use cutt_dist_mpi
  implicit none
  integer, parameter :: na = 30, nb = 20, nc = 10 ! a(i, j, k) becomes b(k, j, i), both spread by their last mode
  type(cutt_dist_comm) :: comm
  type(cutt_dist_layout) :: from, to
  type(cutt_dist_plan) :: plan
  real(real64), allocatable :: a(:, :, :), b(:, :, :)
  integer(int64) :: n(3), global(3)
  integer :: rank, ranks, code, i, j, k, wrong = 0, all_wrong

  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)

  call from%create([na, nb, nc], parts=[1, 1, ranks])
  call to%create([nc, nb, na], parts=[1, 1, ranks])
  n = from%local_shape(rank)
  allocate (a(n(1), n(2), n(3)))
  n = to%local_shape(rank)
  allocate (b(n(1), n(2), n(3)))

  ! Every element says where it is in the whole tensor.
  do k = 1, size(a, 3)
    do j = 1, size(a, 2)
      do i = 1, size(a, 1)
        global = from%global(rank, [i, j, k])
        a(i, j, k) = real(global(1) + 100*global(2) + 10000*global(3), real64)
      end do
    end do
  end do

  call cutt_dist_comm_mpi(comm, MPI_COMM_WORLD) ! of mpi_f08: MPI_COMM_WORLD%MPI_VAL
  call plan%create(comm, a, b, from, to, [3, 2, 1])
  call plan%execute(a, b) ! an error ends the program; stat= and errmsg= give it back, the same on all ranks

  do k = 1, size(b, 3)
    do j = 1, size(b, 2)
      do i = 1, size(b, 1)
        global = to%global(rank, [i, j, k])
        if (nint(b(i, j, k)) /= global(3) + 100*global(2) + 10000*global(1)) wrong = wrong + 1
      end do
    end do
  end do
  call plan%destroy()
  call comm%destroy()
  call MPI_Allreduce(wrong, all_wrong, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, code)
  if (rank == 0) print '(a,i0,a,i0,a)', &
    merge('right: ', 'WRONG: ', all_wrong == 0), all_wrong, ' elements are wrong on ', ranks, ' ranks'
  call MPI_Finalize(code)
  if (all_wrong > 0) error stop 1
end program
