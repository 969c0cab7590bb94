! Communicators of the module cutt_dist whose ranks are the processes of MPI; that module's names are this one's, too.
!
! A module of its own, since whatever uses it is linked with cutt_dist_mpi.c, compiled by the C compiler of the same MPI.
module cutt_dist_mpi
  use, intrinsic :: iso_c_binding
  use cutt_raw, only: CUTT_SUCCESS
  use cutt, only: cutt_finish
  use cutt_dist
  implicit none
  public :: cutt_dist_comm_mpi, cutt_dist_mpi_allocate, cutt_dist_mpi_free ! and what cutt_dist has
  private :: cutt_finish

  interface
    integer(c_int) function cuttDistCommMpiFortran(comm, mpi) bind(c, name='cuttDistCommMpiFortran')
      import
      type(c_ptr), intent(out) :: comm
      integer(c_int64_t), value :: mpi
    end function
    integer(c_int) function cuttDistMpiAllocate(comm, bytes, pointer) bind(c, name='cuttDistMpiAllocate')
      import
      type(c_ptr), value :: comm
      integer(c_int64_t), value :: bytes
      type(c_ptr), intent(out) :: pointer
    end function
    integer(c_int) function cuttDistMpiFree(comm, pointer) bind(c, name='cuttDistMpiFree')
      import
      type(c_ptr), value :: comm, pointer
    end function
  end interface

contains

  ! Makes a communicator of all ranks of an MPI communicator, given as an integer: MPI_COMM_WORLD, or MPI_COMM_WORLD%MPI_VAL of
  ! mpi_f08. Collective, between MPI_Init and MPI_Finalize.
  subroutine cutt_dist_comm_mpi(comm, mpi, stat, errmsg)
    type(cutt_dist_comm), intent(inout) :: comm
    integer, intent(in) :: mpi
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: code
    call comm%destroy()
    code = cuttDistCommMpiFortran(comm%handle, int(mpi, c_int64_t))
    if (code /= CUTT_SUCCESS) comm%handle = c_null_ptr
    call cutt_finish(code, stat=stat, errmsg=errmsg)
  end subroutine

  ! Memory that the ranks of one node reach, so that plans with direct=CUTT_DIST_DIRECT_ALWAYS write outputs there without messages:
  ! call c_f_pointer(memory, b, shape) with b a pointer that is contiguous, since a copy of it would be elsewhere. Collective; bytes
  ! may differ by rank.
  subroutine cutt_dist_mpi_allocate(comm, bytes, memory, stat, errmsg)
    type(cutt_dist_comm), intent(in) :: comm
    integer(c_int64_t), intent(in) :: bytes
    type(c_ptr), intent(out) :: memory
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call cutt_finish(cuttDistMpiAllocate(comm%handle, bytes, memory), stat=stat, errmsg=errmsg)
  end subroutine

  ! Frees what one call of cutt_dist_mpi_allocate has given to each rank. Collective. What is left comm%destroy() frees.
  subroutine cutt_dist_mpi_free(comm, memory, stat, errmsg)
    type(cutt_dist_comm), intent(in) :: comm
    type(c_ptr), intent(in) :: memory
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call cutt_finish(cuttDistMpiFree(comm%handle, memory), stat=stat, errmsg=errmsg)
  end subroutine
end module
