! Communicators of the module cutt_dist whose ranks are the processes of MPI; that module's names are this one's, too.
!
! A module of its own, since whatever uses it is linked with cutt_dist_mpi.c, compiled by the C compiler of the same MPI.
module cutt_dist_mpi
  use, intrinsic :: iso_c_binding
  use cutt_raw, only: CUTT_SUCCESS
  use cutt, only: cutt_finish
  use cutt_dist
  implicit none
  private :: cutt_finish

  interface
    integer(c_int) function cuttDistCommMpiFortran(comm, mpi) bind(c, name='cuttDistCommMpiFortran')
      import
      type(c_ptr), intent(out) :: comm
      integer(c_int64_t), value :: mpi
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
end module
