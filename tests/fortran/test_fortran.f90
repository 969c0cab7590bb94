! The Fortran modules against plain loops: every rank from 1 to 7 and every type, sections, plans, contractions, and the
! texts of errors. `test_fortran stop`: a failure without stat ends the program.
module checks
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit, real64
  use cutt
  implicit none
  integer :: made = 0, failed = 0
contains
  subroutine check(good, what)
    logical, intent(in) :: good
    character(*), intent(in) :: what
    made = made + 1
    if (good) return
    failed = failed + 1
    write (error_unit, '(2a)') 'FAILED: ', what
  end subroutine

  ! A failure with this code, whose text has this part.
  subroutine check_error(stat, wanted, text, part)
    integer, intent(in) :: stat, wanted
    character(*), intent(in) :: text, part
    call check(stat == wanted .and. index(text, part) > 0, 'error "'//part//'", said: "'//trim(text)//'"')
  end subroutine

  ! in (distinct values) to out by cutt_permute, and element by element through flat indices.
  subroutine check_rank(in, out, perm)
    real(real64), intent(inout), contiguous, target :: in(..), out(..)
    integer, intent(in) :: perm(:)
    real(real64), pointer :: a(:), b(:)
    integer(c_int64_t) :: extents(15), index(15), i, at, step
    integer :: j, mode
    logical :: good
    call c_f_pointer(c_loc(in), a, [size(in)])
    call c_f_pointer(c_loc(out), b, [size(out)])
    a = [(real(i, real64), i=1, size(in))]
    b = -1
    call cutt_permute(in, out, perm)
    extents(:size(perm)) = shape(in, c_int64_t)
    good = .true.
    index = 0
    do i = 1, size(a)
      at = 1
      step = 1
      do j = 1, size(perm)
        at = at + index(perm(j))*step
        step = step*extents(perm(j))
      end do
      good = good .and. b(at) == a(i)
      do mode = 1, size(perm) ! the next index of in
        index(mode) = index(mode) + 1
        if (index(mode) < extents(mode)) exit
        index(mode) = 0
      end do
    end do
    call check(good, 'rank '//achar(iachar('0') + size(perm)))
  end subroutine
end module

program test_fortran
  use checks
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, output_unit
  use cutt_raw, only: cuttProblem_t, cuttOptions_t, cuttPlanInfo_t, cuttCalibration_t, cuttContraction_t, &
    cuttContractionOptions_t, cuttContractionInfo_t, cuttContractionTimes_t, cuttPermute, CUTT_BYTES_8, CUTT_F64, &
    cuttElementwise_t, cuttElementwiseOptions_t, cuttElementwiseCompute
  use cutt_contraction
  use cutt_elementwise
  use cutt_reduction
  implicit none
  interface
    subroutine test_sizes(sizes) bind(c)
      import :: c_size_t
      integer(c_size_t), intent(out) :: sizes(10)
    end subroutine
  end interface
  character(200) :: text
  character(8) :: argument
  integer :: stat
  real(real64) :: a2(2, 3), b2(3, 2)

  call get_command_argument(1, argument)
  if (argument == 'stop') then
    call cutt_permute(a2, b2, [2, 2])
    write (output_unit, '(a)') 'still here'
    stop
  end if
  call ranks
  call types
  call sections_and_plans
    call batches
  call errors
  call raw
  call contractions
  call elementwise_operations
  call reductions
  write (output_unit, '(i0,a,i0,a)') made, ' checks, ', failed, ' failed'
  if (failed > 0) stop 1

contains

  subroutine ranks
    real(real64) :: a1(9), b1(9), a3(3, 4, 5), b3(5, 3, 4), a4(2, 3, 4, 5), b4(5, 3, 4, 2), a5(2, 3, 1, 4, 5), b5(3, 5, 2, 4, 1)
    real(real64) :: a6(2, 3, 2, 4, 3, 2), b6(2, 3, 4, 2, 3, 2), a7(2, 3, 2, 3, 2, 3, 2), b7(3, 2, 3, 2, 3, 2, 2), a0, b0
    call check_rank(a1, b1, [1])
    call check_rank(a2, b2, [2, 1])
    call check_rank(a3, b3, [3, 1, 2])
    call check_rank(a4, b4, [4, 2, 3, 1])
    call check_rank(a5, b5, [2, 5, 1, 4, 3])
    call check_rank(a6, b6, [6, 5, 4, 3, 2, 1])
    call check_rank(a7, b7, [2, 1, 4, 3, 6, 5, 7])
    a0 = 4
    b0 = 0
    call cutt_permute(a0, b0, [integer ::], alpha=2.0_real64)
    call check(b0 == 8, 'rank 0')
    b3 = reshape(a3, shape(b3), order=[2, 3, 1]) ! RESHAPE's order is perm the other way round
    block
      real(real64) :: c3(5, 3, 4)
      call cutt_permute(a3, c3, [3, 1, 2])
      call check(all(c3 == b3), 'as RESHAPE')
    end block
  end subroutine

  subroutine types
    real(real32) :: ar(4, 5), br(5, 4), cr(5, 4)
    complex(real32) :: ac(4, 5), bc(5, 4), cc(5, 4)
    complex(real64) :: az(4, 5), bz(5, 4), cz(5, 4)
    integer(int32) :: ai(4, 5), bi(5, 4), ci(5, 4)
    integer(int64) :: aj(4, 5), bj(5, 4), cj(5, 4)
    integer :: i, j
    ar = reshape([(real(i), i=1, 20)], [4, 5])
    br = 1000 + reshape([(real(i), i=1, 20)], [5, 4])
    cr = br
    call cutt_permute(ar, cr, [2, 1], alpha=2.0, beta=3.0)
    call check(all(cr == 2*transpose(ar) + 3*br), 'single precision, alpha and beta')
    do j = 1, 5
      do i = 1, 4
        ac(i, j) = cmplx(i, j)
        az(i, j) = cmplx(10*i, j, real64)
        bz(j, i) = cmplx(i, -j, real64)
        ai(i, j) = 10*i + j
        aj(i, j) = 1000000007_int64*(10*i + j)
      end do
    end do
    call cutt_permute(ac, bc, [2, 1], conjugate=.true.)
    cc = transpose(conjg(ac))
    call check(all(bc == cc), 'complex, conjugated')
    cz = bz
    call cutt_permute(az, cz, [2, 1], alpha=(0.0_real64, 1.0_real64), beta=(2.0_real64, 0.0_real64))
    call check(all(cz == (0, 1)*transpose(az) + 2*bz), 'double complex, alpha and beta')
    call cutt_permute(ai, bi, [2, 1])
    ci = transpose(ai)
    call check(all(bi == ci), 'integers of 4 bytes')
    call cutt_permute(aj, bj, [2, 1], alpha=-3_int64)
    cj = -3*transpose(aj)
    call check(all(bj == cj), 'integers of 8 bytes')
  end subroutine

  subroutine sections_and_plans
    real(real64) :: a(8, 6), b(6, 8)
    type(cutt_plan) :: plan
    integer :: i
    a = reshape([(real(i, real64), i=1, 48)], [8, 6])
    b = -1
    call cutt_permute(a(1:7:2, 2:6:2), b(1:3, 2:8:2), [2, 1])
    call check(all(b(1:3, 2:8:2) == transpose(a(1:7:2, 2:6:2))) .and. count(b == -1) == 48 - 12, 'sections that are not contiguous')

    call plan%create(a, b, [2, 1], threads=1)
    do i = 1, 2
      a = a + 1
      call plan%execute(a, b)
      call check(all(b == transpose(a)), 'a plan, executed again')
    end do
    call check(index(plan%describe(), 'choice') > 0, 'the description of a plan')
    call plan%create(b, a, [2, 1], measure=.true.)
    call plan%execute(b, a)
    call check(all(b == transpose(a)), 'a plan that was measured')
    call plan%execute(a, b, stat=stat, errmsg=text)
    call check_error(stat, CUTT_INVALID_PARAMETER, text, 'another shape than the plan was made for')
    call plan%destroy()
    call plan%execute(b, a, stat=stat, errmsg=text)
    call check_error(stat, CUTT_INVALID_PLAN, text, 'has not been created')
    call check(len(plan%describe()) == 0, 'nothing to describe')
    call check(cutt_version() >= 100 .and. index(cutt_devices(), 'cpu') > 0, 'version and devices')
  end subroutine

  subroutine batches
    real(real64), target :: a(8, 6, 20), b(6, 8, 20)
    type(c_ptr) :: in(20), out(20)
    type(cutt_plan) :: plan
    integer :: i
    a = reshape([(real(i, real64), i=1, size(a))], shape(a))
    b = -1
    do i = 1, 20
      in(i) = c_loc(a(1, 1, i))
      out(i) = c_loc(b(1, 1, 21 - i))
    end do
    call plan%create(a(:, :, 1), b(:, :, 1), [2, 1])
    call plan%execute_batch(in, out)
    do i = 1, 20
      call check(all(b(:, :, 21 - i) == transpose(a(:, :, i))), 'an array of a batch')
    end do
    call plan%execute_batch(in(:0), out(:0))
    call plan%execute_batch(in(:3), out, stat=stat, errmsg=text)
    call check_error(stat, CUTT_INVALID_PARAMETER, text, 'in has 3 addresses and out has 20')
    out(7) = in(7)
    call plan%execute_batch(in, out, stat=stat, errmsg=text)
    call check_error(stat, CUTT_INVALID_PARAMETER, text, 'in[6] spans')
    call plan%destroy()
    call plan%execute_batch(in, out, stat=stat, errmsg=text)
    call check_error(stat, CUTT_INVALID_PLAN, text, 'has not been created')
  end subroutine

  subroutine errors
    type(cutt_plan) :: plan
    real(real64) :: b1(6)
    text = 'as it was'
    call cutt_permute(a2, b2, [2, 1], stat=stat, errmsg=text)
    call check(stat == CUTT_SUCCESS .and. text == 'as it was', 'success leaves errmsg alone')
    call cutt_permute(a2, b2, [2, 2], stat=stat, errmsg=text)
    call check_error(stat, CUTT_INVALID_PARAMETER, text, 'perm(2) is 2; each of 1 to 2 must be there once')
    call cutt_permute(a2, b2, [0, 1], stat=stat, errmsg=text)
    call check_error(stat, CUTT_INVALID_PARAMETER, text, 'perm(1) is 0')
    call cutt_permute(a2, b2, [1, 2, 3], stat=stat, errmsg=text)
    call check_error(stat, CUTT_INVALID_PARAMETER, text, 'perm has 3 entries')
    call cutt_permute(a2, a2, [2, 1], stat=stat, errmsg=text)
    call check_error(stat, CUTT_INVALID_PARAMETER, text, 'extent 1 of out is 2; it must be 3')
    call cutt_permute(a2, b1, [2, 1], stat=stat, errmsg=text)
    call check_error(stat, CUTT_INVALID_PARAMETER, text, 'out has rank 1')
    call plan%create(a2, b2, [2, 1], conjugate=.true., stat=stat, errmsg=text)
    call check_error(stat, CUTT_INVALID_PARAMETER, text, 'conjugate')
    call check(trim(text) == cutt_last_error(), "the library's own text")
    call plan%create(a2, b2, [2, 1], backend=77, stat=stat, errmsg=text)
    call check_error(stat, CUTT_INVALID_PARAMETER, text, 'backend is 77')
  end subroutine

  ! The structures are as large as in C, and a call of the raw interface, on a sub-tensor by strides.
  subroutine raw
    type(cuttProblem_t) :: problem
    type(cuttOptions_t), target :: options
    type(cuttPlanInfo_t) :: info
    type(cuttCalibration_t) :: calibration
    type(cuttContraction_t) :: contraction
    type(cuttContractionOptions_t) :: contraction_options
    type(cuttContractionInfo_t) :: contraction_info
    type(cuttContractionTimes_t) :: times
    type(cuttElementwise_t) :: elementwise
    type(cuttElementwiseOptions_t), target :: elementwise_options
    character(kind=c_char), target :: sum_text(12) = [character(kind=c_char) :: 'a', 'b', ',', 'b', 'a', '-', '>', 'a', 'b', &
                                                      c_null_char, ' ', ' ']
    integer(c_int64_t), target :: turned(2) = [3, 2]
    real(real64), target :: x(2, 3), y(3, 2), z(2, 3), two = 2
    integer(c_size_t) :: sizes(10)
    integer(c_int64_t), target :: extents(2) = [2, 3], strides(2) = [1, 4]
    integer(c_int), target :: perm(2) = [1, 0]
    real(real64), target :: a(4, 3), b(3, 2)
    integer :: i
    call test_sizes(sizes)
    call check(all(sizes == [c_sizeof(problem), c_sizeof(options), c_sizeof(info), c_sizeof(calibration), &
                             c_sizeof(contraction), c_sizeof(contraction_options), c_sizeof(contraction_info), &
                             c_sizeof(times), c_sizeof(elementwise), c_sizeof(elementwise_options)]), &
               'sizes of the structures')
    a = reshape([(real(i, real64), i=1, 12)], [4, 3])
    problem%struct_size = c_sizeof(problem)
    problem%rank = 2
    problem%type = CUTT_BYTES_8
    problem%extents = c_loc(extents)
    problem%perm = c_loc(perm)
    problem%in_strides = c_loc(strides)
    options%struct_size = c_sizeof(options)
    options%backend = CUTT_BACKEND_CPU
    call check(cuttPermute(problem, c_loc(options), c_loc(a), c_loc(b), c_null_ptr) == CUTT_SUCCESS, 'the raw interface')
    call check(all(b == transpose(a(1:2, :))), 'a sub-tensor by strides')
    x = a(1:2, :)
    y = a(1:3, 2:3)
    elementwise%struct_size = c_sizeof(elementwise)
    elementwise%pattern = c_loc(sum_text)
    elementwise%type = CUTT_F64
    elementwise%a_rank = 2
    elementwise%b_rank = 2
    elementwise%result_rank = 2
    elementwise%a_extents = c_loc(extents)
    elementwise%b_extents = c_loc(turned)
    elementwise%alpha = c_loc(two)
    elementwise_options%struct_size = c_sizeof(elementwise_options)
    elementwise_options%backend = CUTT_BACKEND_CPU
    call check(cuttElementwiseCompute(elementwise, c_loc(elementwise_options), c_loc(x), c_loc(y), c_null_ptr, c_loc(z), &
                                       c_null_ptr) == CUTT_SUCCESS, 'an elementwise operation')
    call check(all(z == 2*x + transpose(y)), 'a sum of permuted arrays')
    elementwise%op_ab = CUTT_OP_MAX
    call check(cuttElementwiseCompute(elementwise, c_loc(elementwise_options), c_loc(x), c_loc(y), c_null_ptr, c_loc(z), &
                                       c_null_ptr) == CUTT_SUCCESS, 'an elementwise operation')
    call check(all(z == max(2*x, transpose(y))), 'a maximum of permuted arrays')
  end subroutine

  subroutine elementwise_operations
    real(real64) :: a(4, 5, 6), b(6, 4, 5), c(5), d(4, 5, 6), wanted(4, 5, 6), x, y, z
    real(real32) :: ar(3, 3), br(3), dr(3, 3)
    complex(real32) :: ac(2, 3), bc(3, 2), dc(2, 3)
    complex(real64) :: az(4), bz(4), dz(4)
    integer(int32) :: ai(3), bi(3), di(3)
    integer(int64) :: al(2, 2), dl(2, 2)
    type(cutt_elementwise_plan) :: plan
    integer :: i, j, k
    do concurrent (i=1:4, j=1:5, k=1:6)
      a(i, j, k) = i + 10*j + 100*k
      b(k, i, j) = k - 3*i + 7*j
    end do
    c = [300, -2, 5, 200, 0]
    d = -7
    call cutt_combine('ijk,kij->ijk', a, b, d, alpha=2.0_real64, threads=1)
    wanted = 2*a + reshape(b, shape(a), order=[3, 1, 2])
    call check(all(d == wanted), 'a sum of permuted arrays')
    call cutt_combine('ijk,kij,j->ijk', a, b, d, c, op2=CUTT_OP_MAX, alpha=2.0_real64, gamma=-1.0_real64)
    call check(all(d == max(wanted, -spread(spread(c, 1, 4), 3, 6))), 'three operands, one repeated')
    call plan%create('ijk,kij->ijk', a, b, d, op=CUTT_OP_MULTIPLY)
    call plan%execute(a, b, d)
    call check(all(d == a*reshape(b, shape(a), order=[3, 1, 2])), 'a plan, executed')
    call check(index(plan%describe(), 'D = A CUTT_OP_MULTIPLY B') > 0, 'the description of an elementwise plan')
    call plan%execute(b, a, d, stat=stat, errmsg=text)
    call check_error(stat, CUTT_INVALID_PARAMETER, text, 'another shape')
    call plan%execute(a, b, d, c, stat=stat, errmsg=text)
    call check_error(stat, CUTT_INVALID_PARAMETER, text, 'two operands')
    call plan%destroy()
    call plan%execute(a, b, d, stat=stat, errmsg=text)
    call check_error(stat, CUTT_INVALID_PLAN, text, 'not been created')
    call check(plan%describe() == '', 'the description of no plan')
    x = 3
    y = 4
    z = 0
    call cutt_combine(',->', x, y, z)
    call check(z == 7, 'scalars')
    call cutt_combine(',,->', x, y, z, 0.5_real64, op=CUTT_OP_MIN)
    call check(z == 3.5_real64, 'a scalar as the third operand')
    ar = reshape([1, 2, 3, 4, 5, 6, 7, 8, 9], [3, 3])
    br = [10, 20, 30]
    call cutt_combine('ab,b->ab', ar, br, dr, op=CUTT_OP_MULTIPLY)
    call check(all(dr == ar*spread(br, 1, 3)), 'single precision')
    ac = reshape([(1, 1), (2, 0), (0, 3), (4, 0), (5, -1), (6, 0)], [2, 3])
    bc = reshape([(0, 1), (2, 0), (0, 5), (4, 0), (1, -1), (6, 2)], [3, 2])
    call cutt_combine('ab,ba->ab', ac, bc, dc, conjugate_b=.true.)
    call check(all(dc == ac + conjg(transpose(bc))), 'complex, conjugated')
    az = [(1, 2), (3, 4), (5, 6), (7, 8)]
    bz = [(0, 1), (1, 0), (2, 2), (0, 0)]
    call cutt_combine('a,a->a', az, bz, dz, op=CUTT_OP_MULTIPLY, alpha=(0.0_real64, 1.0_real64))
    call check(all(dz == (0, 1)*az*bz), 'double complex')
    ai = [1, -5, 9]
    bi = [4, -6, 2]
    call cutt_combine('a,a->a', ai, bi, di, op=CUTT_OP_MAX)
    call check(all(di == [4, -5, 9]), 'integers')
    al = reshape([1_int64, 2_int64, 3_int64, 4_int64*10_int64**15], [2, 2])
    call cutt_combine('ab,ba->ab', al, al, dl, beta=-1_int64)
    call check(all(dl == al - transpose(al)), 'integers of 8 bytes')
    call cutt_combine('ab,ba->a', al, al, dl, stat=stat, errmsg=text)
    call check(stat == CUTT_INVALID_PARAMETER .and. trim(text) == cutt_last_error(), 'a pattern that sums')
    call cutt_combine('a,a->a', az, bz, dz, op=CUTT_OP_MIN, stat=stat, errmsg=text)
    call check_error(stat, CUTT_INVALID_PARAMETER, text, 'complex numbers have no order')
  end subroutine

  subroutine reductions
    real(real64) :: a(3, 4, 5), s(4), m(5, 3), all_of_it, square(4, 4), two(3, 4)
    real(real32) :: ar(2, 3), dr(2)
    complex(real32) :: ac(3), dc
    complex(real64) :: az(2, 2, 3), dz(2)
    integer(int32) :: ai(2, 3), di(3)
    integer(int64) :: al(3, 2, 2), dl(3, 2)
    type(cutt_reduction_plan) :: plan
    integer :: i, j, k
    do concurrent (i=1:3, j=1:4, k=1:5)
      a(i, j, k) = mod(7*i + 5*j + 3*k, 11) - 4
    end do
    s = -7
    call cutt_reduce('ijk->j', a, s)
    call check(all(s == sum(sum(a, 3), 1)), 'a sum over two modes')
    call cutt_reduce('ijk->j', a, s, alpha=2.0_real64, beta=-1.0_real64, threads=1)
    call check(all(s == sum(sum(a, 3), 1)), 'alpha and beta')
    call cutt_reduce('ijk->ki', a, m, CUTT_OP_MAX)
    call check(all(m == transpose(maxval(a, 2))), 'maxima')
    call cutt_reduce('ijk->ki', a, m, CUTT_OP_MIN)
    call check(all(m == transpose(minval(a, 2))), 'minima')
    call cutt_reduce('ijk->ki', a, m, CUTT_OP_MULTIPLY)
    call check(all(m == transpose(product(a, 2))), 'products')
    all_of_it = 1
    call cutt_reduce('ijk->', a, all_of_it)
    call check(all_of_it == sum(a), 'all of it')
    square = reshape([(real(i*i, real64), i=1, 16)], [4, 4])
    call cutt_reduce('aa->a', square, s)
    call check(all(s == [(square(i, i), i=1, 4)]), 'a diagonal')
    two = a(:, :, 1)
    call plan%create('ij->i', two, s(:3), CUTT_OP_MULTIPLY)
    call plan%execute(two, s(:3))
    call check(all(s(:3) == product(two, 2)), 'a plan, executed')
    call check(index(plan%describe(), 'CUTT_OP_MULTIPLY in place of sums') > 0, 'the description of a reduction')
    call plan%execute(two, s, stat=stat, errmsg=text)
    call check_error(stat, CUTT_INVALID_PARAMETER, text, 'another shape')
    call plan%destroy()
    call plan%execute(two, s(:3), stat=stat, errmsg=text)
    call check_error(stat, CUTT_INVALID_PLAN, text, 'not been created')
    call check(plan%describe() == '', 'the description of no plan')
    ar = reshape([1, 2, 3, 4, 5, 6], [2, 3])
    call cutt_reduce('ab->a', ar, dr)
    call check(all(dr == sum(ar, 2)), 'single precision')
    ac = [(1, 2), (3, 4), (5, 6)]
    call cutt_reduce('a->', ac, dc, conjugate=.true.)
    call check(dc == conjg(sum(ac)), 'complex, conjugated')
    az = reshape([(cmplx(i, -i, real64), i=1, 12)], [2, 2, 3])
    call cutt_reduce('aab->a', az, dz)
    call check(all(dz == sum(reshape([(az(1, 1, k), az(2, 2, k), k=1, 3)], [2, 3]), 2)), 'double complex, a diagonal, summed')
    ai = reshape([3, -5, 9, 2, 0, 7], [2, 3])
    call cutt_reduce('ab->b', ai, di, CUTT_OP_MIN)
    call check(all(di == minval(ai, 1)), 'integers')
    al = reshape([(int(i, int64)*10_int64**12, i=1, 12)], [3, 2, 2])
    call cutt_reduce('abb->ab', al, dl)
    call check(all(dl == reshape([al(:, 1, 1), al(:, 2, 2)], [3, 2])), 'integers of 8 bytes, a diagonal')
    call cutt_contract('ij,ij->i', two, two, s(:3), reduce=CUTT_OP_MAX)
    call check(all(s(:3) == maxval(two*two, 2)), 'maxima of products')
    call cutt_reduce('a->', ac, dc, CUTT_OP_MAX, stat=stat, errmsg=text)
    call check_error(stat, CUTT_INVALID_PARAMETER, text, 'c32')
  end subroutine

  subroutine contractions
    integer, parameter :: na = 4, nb = 5, nc = 6, nd = 7
    real(real64) :: l(na, nb, nc), r(nc, nd), d(na, nb, nd), wanted(na, nb, nd), scalar
    complex(real32) :: lc(na, nc), rc(nc, nd), dc(nd, na), wc(nd, na)
    real(real32) :: ls(3, 3), ds(3), rs
    complex(real64) :: lz(2, 3), rz(3), dz(2)
    type(cutt_contraction_plan) :: plan
    integer :: a, b, c, e
    do concurrent (a=1:na, b=1:nb, c=1:nc)
      l(a, b, c) = a + 10*b + 100*c
    end do
    do concurrent (c=1:nc, e=1:nd)
      r(c, e) = c - 3*e
    end do
    d = -7
    call cutt_contract('abc,cd->abd', l, r, d, stat=stat, errmsg=text)
    if (stat == CUTT_INVALID_DEVICE) then
      write (output_unit, '(2a)') 'contractions are left out: ', trim(text)
      return
    end if
    call check(stat == CUTT_SUCCESS, 'a contraction')
    wanted = 0
    do e = 1, nd
      do c = 1, nc
        wanted(:, :, e) = wanted(:, :, e) + l(:, :, c)*r(c, e)
      end do
    end do
    call check(all(d == wanted), 'double precision against loops') ! small integers: exact
    call cutt_contract('D(a,b,d)+=L(a,b,c)*R(c,d)', l, r, d, alpha=2.0_real64)
    call check(all(d == 3*wanted), "TAL-SH's form adds")
    call cutt_contract('abc,cd->abd', l, r, d, beta=-1.0_real64, threads=1, workspace_limit=0_c_size_t)
    call check(all(d == -2*wanted), 'beta, one thread, no workspace')
    scalar = 0
    call cutt_contract('cd,cd->', r, r, scalar)
    call check(scalar == sum(r*r), 'a scalar result')
    call plan%create('abc,cd->abd', l, r, d)
    r = r + 1
    call plan%execute(l, r, d)
    call check(d(2, 3, 4) == dot_product(l(2, 3, :), r(:, 4)), 'a plan, executed')
    call check(len(plan%describe()) > 0 .and. plan%workspace() >= 0, 'the description of a plan')
    call plan%execute(r, l, d, stat=stat, errmsg=text)
    call check_error(stat, CUTT_INVALID_PARAMETER, text, 'another shape')

    do concurrent (a=1:na, c=1:nc)
      lc(a, c) = cmplx(a, c)
    end do
    do concurrent (c=1:nc, e=1:nd)
      rc(c, e) = cmplx(c, -e)
    end do
    call cutt_contract('ac,cd->da', lc, rc, dc, conjugate_left=.true.)
    wc = transpose(matmul(conjg(lc), rc))
    call check(all(dc == wc), 'complex, conjugated, result permuted')
    ls = reshape([1, 2, 3, 4, 5, 6, 7, 8, 9], [3, 3])
    rs = 2
    call cutt_contract('aa,->a', ls, rs, ds)
    call check(all(ds == [2, 10, 18]), 'single precision, a diagonal')
    lz = reshape([(1, 1), (2, 0), (0, 3), (4, 0), (5, -1), (6, 0)], [2, 3])
    rz = [(1, 0), (0, 1), (2, 2)]
    call cutt_contract('ab,b->a', lz, rz, dz, alpha=(0.0_real64, 1.0_real64))
    call check(all(dz == (0, 1)*matmul(lz, rz)), 'double complex')

    call cutt_contract('abc,cd->abd', l, r(:, :3), d, stat=stat, errmsg=text)
    call check_error(stat, CUTT_INVALID_PARAMETER, text, 'result_extents')
    call cutt_contract('abc,c->abd', l, r, d, stat=stat, errmsg=text)
    call check(stat == CUTT_INVALID_PARAMETER .and. trim(text) == cutt_last_error(), 'a pattern of another rank')
    call check(index(cutt_providers(), 'GFLOP') > 0, 'providers')
  end subroutine
end program
