// libcu++: complex numbers, ranges of integers of 128 bits, spans, tuples, sorting networks of std algorithms.
#include <cuda/std/complex>
#include <cuda/std/array>
#include <cuda/std/tuple>
#include <cuda/std/bit>
#include <cuda/std/span>
__device__ cuda::std::tuple<unsigned, int> split(unsigned x) { return {cuda::std::rotl(x, 7), cuda::std::countl_zero(x)}; }
extern "C" __global__ void complex_numbers(const float2 *z, float2 *power, const unsigned *x, unsigned *out) {
    int i = threadIdx.x;
    cuda::std::complex<float> c(z[i].x, z[i].y), p(1, 0);
    for (int k = 0; k < 5; ++k) p *= c;
    power[i] = make_float2(p.real(), p.imag());
    auto [turned, zeros] = split(x[i]);
    cuda::std::array<unsigned, 4> own = {turned, x[i], (unsigned)zeros, ~x[i]};
    unsigned sum = 0;
    for (unsigned each : cuda::std::span<unsigned, 4>(own)) sum = sum * 31 + each;
    out[i] = sum;
}
