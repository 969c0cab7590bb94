! Permutation and contraction of Fortran's arrays, as they lie, with the modules of bindings/fortran.
program tensors
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use cutt
  use cutt_contraction
  implicit none
  integer, parameter :: nx = 96, ny = 80, nz = 72
  real(real64), allocatable :: a(:, :, :), b(:, :, :), c(:, :, :), r(:, :), d(:, :, :)
  type(cutt_plan) :: plan
  character(200) :: text
  integer :: stat
  real(real64) :: loops, ours

  allocate (a(nx, ny, nz), b(nz, nx, ny), c(nz, nx, ny), r(nz, 8), d(nx, ny, 8))
  call random_number(a)
  call random_number(r)

  ! Mode i of b is mode perm(i) of a: b(k, i, j) = a(i, j, k). Planned once, executed twice; the first touches the memory.
  call plan%create(a, b, [3, 1, 2], threads=1)
  call plan%execute(a, b)
  c = reshape(a, shape(c), order=[2, 3, 1]) ! RESHAPE's order is perm the other way round
  ours = seconds()
  call plan%execute(a, b)
  ours = seconds() - ours
  loops = seconds()
  c = reshape(a, shape(c), order=[2, 3, 1])
  loops = seconds() - loops
  if (any(b /= c)) error stop 'the permutation is WRONG'
  print '(a,f0.2,a,f0.2,a)', 'permutation: RESHAPE ', 1e3*loops, ' ms, cuTT ', 1e3*ours, ' ms, the same result'

  ! A failure goes to stat and errmsg; without stat it would end the program.
  call cutt_permute(a, c, [3, 1, 1], stat=stat, errmsg=text)
  print '(a,i0,2a)', 'an error on purpose: ', stat, ', ', trim(text)

  ! The letters are the modes, the first subscript first.
  call cutt_contract('ijk,kl->ijl', a, r, d, stat=stat, errmsg=text)
  if (stat == CUTT_INVALID_DEVICE) then
    print '(2a)', 'no contraction: ', trim(text)
  else if (stat /= CUTT_SUCCESS) then
    error stop 'the contraction failed'
  else
    if (maxval(abs(reshape(d, [nx*ny, 8]) - matmul(reshape(a, [nx*ny, nz]), r))) > 1e-11) error stop 'the contraction is WRONG'
    print '(a)', 'contraction: as MATMUL of the reshaped arrays'
  end if

contains

  real(real64) function seconds()
    integer(int64) :: count, rate
    call system_clock(count, rate)
    seconds = real(count, real64)/real(rate, real64)
  end function
end program
