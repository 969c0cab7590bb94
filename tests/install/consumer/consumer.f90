! The Fortran consumer: a permutation and, where there is a BLAS, a contraction.
program consumer
  use cutt
  use cutt_contraction
  implicit none
  double precision :: a(3, 5, 4), b(4, 3, 5), scalar
  integer :: i, stat, version
  character(200) :: text
  a = reshape([(dble(i), i=1, 60)], [3, 5, 4])
  call cutt_permute(a, b, [3, 1, 2])
  do i = 1, 4
    if (any(b(i, :, :) /= a(:, :, i))) error stop 'consumer: the permutation is wrong'
  end do
  call cutt_contract('abc,abc->', a, a, scalar, stat=stat, errmsg=text)
  if (stat /= CUTT_INVALID_DEVICE .and. (stat /= CUTT_SUCCESS .or. scalar /= 60*61*121/6)) error stop 'consumer: the contraction'
  version = cutt_version()
  print '(3(a,i0))', 'consumer: correct, cuTT ', version/10000, '.', mod(version/100, 100), '.', mod(version, 100)
end program
